// SPDX-License-Identifier: Apache-2.0
#include "renga/train/step_timer.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace renga::train {

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0.0;
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void StepTimer::step(Clock::time_point now) {
  seconds_.push_back(std::chrono::duration<double>(now - begin_).count());
  begin_ = now;
}

double StepTimer::median_seconds() const {
  const auto first = seconds_.size() > 2 ? seconds_.begin() + 2 : seconds_.begin();
  return median({first, seconds_.end()});
}

std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

}  // namespace renga::train
