// SPDX-License-Identifier: Apache-2.0
#include "tests/support/watchdog.hpp"

#include <cstdio>
#include <cstdlib>

namespace renga::test {

Watchdog::Watchdog(int rank, std::chrono::seconds limit) : rank_(rank), limit_(limit), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::start(const std::string& test) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    test_ = test;
    deadline_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
}

void Watchdog::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  test_.clear();
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!over_) {
    if (test_.empty()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, deadline_) == std::cv_status::timeout && !test_.empty() &&
               std::chrono::steady_clock::now() >= deadline_) {
      std::fprintf(stderr, "[rank %d] %s: still running after %lld s\n", rank_, test_.c_str(),
                   static_cast<long long>(limit_.count()));
      std::fflush(nullptr);
      std::_Exit(EXIT_FAILURE);
    }
  }
}

}  // namespace renga::test
