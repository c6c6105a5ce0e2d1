// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <utility>
#include <vector>

namespace renga::detail {

/// Turns SIGTERM, SIGINT and SIGUSR1 into a question that the program asks. (SIGUSR1 is the one that mpiexec passes on
/// without ending the job itself.) One object of a process listens at a time.
///
/// The first signal is noted. Another one more than two seconds later ends the process at once, as it would have
/// without this object: somebody is impatient. One that comes sooner is taken for the same wish, as launchers
/// and batch systems both pass on a signal that the process has got already.
class StopSignals {
 public:
  StopSignals() = default;
  /// Puts back the handlers that were there before, unless a signal has come: the process is on its way out then, and
  /// the same wish, passed on by somebody slow, is not to kill it on its last steps.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// From now on the signals are noted; until then they do what they did. A signal that was ignored stays ignored,
  /// as shells have it for programs in the background. A second call does nothing.
  void listen();

  /// Whether one has come since `listen`.
  bool arrived() const;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;  ///< signal and its former action; empty before `listen`
  bool listens_ = false;
};

}  // namespace renga::detail
