// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace renga::detail {

/// What a wait does in its first microseconds.
enum class FirstWait {
  Spin,  ///< poll: every rank of this host has a core, so the answer is near
  Yield  ///< give the core away at once: the rank that is waited for may need it
};

/// The pauses between the polls of one wait: spin for 5 microseconds, then yield, and once nothing has happened for 2
/// milliseconds sleep, so that ranks that wait do not starve ranks that compute, nor starve beside other programs.
class Backoff {
 public:
  explicit Backoff(FirstWait first);

  /// Call after a poll that found the wait not over.
  void pause();

  /// Time from construction to the last pause, without asking the clock again. Seconds in which this process did not
  /// come to poll do not count: it was suspended, probably with all others, and they are to have their time, too.
  std::chrono::duration<double> waited() const { return last_pause_ - start_; }

 private:
  using Clock = std::chrono::steady_clock;
  void long_pause();

  FirstWait first_;
  Clock::time_point start_;
  Clock::time_point last_pause_;
  Clock::time_point last_moved_;                     ///< when a poll last found something to do
  std::chrono::nanoseconds computed_before_poll_{};  ///< processor time of this thread
};

}  // namespace renga::detail
