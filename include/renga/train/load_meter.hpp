// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace renga::train {

/// Processor time spent between two moments, in seconds summed over cores.
struct Load {
  double elapsed = 0;  ///< on the clock
  double machine = 0;  ///< by all programs, and by what the hypervisor took away
  double own = 0;      ///< by this process, all threads

  /// What others used, as a part of one core; `own` may have been summed over the ranks of this machine.
  double others() const { return elapsed > 0 ? (machine - own) / elapsed : 0.0; }
};

/// Measures how much of the machine other programs used while something was timed: a sample taken
/// meanwhile is worth nothing. Reads /proc/stat (in steps of 10 ms) and getrusage, some 6 µs a call.
class LoadMeter {
 public:
  void start() { begin_ = now(); }
  /// Since `start`.
  Load stop() const;

 private:
  struct Moment {
    std::chrono::steady_clock::time_point time;
    double machine = 0;
    double own = 0;
  };
  static Moment now();
  Moment begin_;
};

}  // namespace renga::train
