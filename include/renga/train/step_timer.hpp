// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace renga::train {

/// The middle of the values (the mean of the two middle ones); 0 when there are none.
double median(std::vector<double> values);

/// Seconds of each step of this process.
class StepTimer {
 public:
  using Clock = std::chrono::steady_clock;

  /// The clock of the next step runs from now on: call it before the first step and after a pause
  /// (a checkpoint, samples) that is not to count.
  void start(Clock::time_point now = Clock::now()) { begin_ = now; }

  /// A step is done; the next one begins.
  void step(Clock::time_point now = Clock::now());

  std::int64_t count() const { return static_cast<std::int64_t>(seconds_.size()); }
  double last_seconds() const { return seconds_.empty() ? 0.0 : seconds_.back(); }

  /// Median over the steps after the first two, which fill caches and pools; over all when there are
  /// no more than two, 0 when there are none.
  double median_seconds() const;

 private:
  Clock::time_point begin_ = Clock::now();
  std::vector<double> seconds_;
};

/// The largest amount of physical memory this process ever had, in bytes; 0 where the system does
/// not say.
std::int64_t peak_memory_bytes();

}  // namespace renga::train
