// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace renga::train {

/// What one operator took.
struct OperatorTime {
  std::string name;           ///< "aten::convolution"
  std::int64_t calls = 0;     ///< operators called by operators are counted, too
  double self_seconds = 0.0;  ///< without the operators it called
};

/// Times every LibTorch operator of this process between construction and `finish`, all threads
/// together. One at a time. Cost: up to 1 µs an operator.
class OperatorTimes {
 public:
  OperatorTimes();
  ~OperatorTimes();
  OperatorTimes(const OperatorTimes&) = delete;
  OperatorTimes& operator=(const OperatorTimes&) = delete;

  /// Ends it; the longest first.
  std::vector<OperatorTime> finish();

 private:
  struct Recorder;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace renga::train
