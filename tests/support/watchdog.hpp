// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace renga::test {

/// Ends the process when one test takes too long: a rank that hangs would hold the others for ever.
class Watchdog {
 public:
  Watchdog(int rank, std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void start(const std::string& test);
  void stop();

 private:
  void watch();

  int rank_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string test_;  ///< empty between tests
  std::chrono::steady_clock::time_point deadline_;
  bool over_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace renga::test
