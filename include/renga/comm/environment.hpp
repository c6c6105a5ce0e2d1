// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "renga/comm/communicator.hpp"
#include "renga/core/settings.hpp"

namespace renga {

namespace detail {
struct Job;
class StopSignals;
}  // namespace detail

/// This process's part in the job: who it is, how it reaches the others, and the seed they share.
/// Made by `run`; a program has one.
class Environment {
 public:
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// All processes of the job.
  Communicator world() const;

  /// A new communicator over all processes by name: "auto", "mpi", "shm" (collectives through memory that the processes
  /// of one host share; NotAvailable on several hosts), or one of ChainerMN's "naive",
  /// "flat", "hierarchical", "two_dimensional", "non_cuda_aware" and "single_node", which mean "auto"
  /// here (the last only on one host). "self" is a group of this process alone. Collective.
  /// @throws NotAvailable for names this build or job does not have, InvalidArgument for unknown ones
  Communicator communicator(const std::string& name) const;

  const Settings& settings() const;

  /// Seeds LibTorch's default generator alike on every rank. Collective; all ranks pass the same seed.
  /// LibTorch seeds each process differently, so `run` has already agreed on one.
  void seed(std::uint64_t value) const;

  /// Compute threads of this process: OpenMP, LibTorch and OpenBLAS alike. The default is the number
  /// of usable cores divided by the processes on this host, at least 1, unless OMP_NUM_THREADS is set.
  void set_threads(int count) const;
  int threads() const;

  /// Whether any rank has got SIGTERM, SIGINT or SIGUSR1: the answer is the same on all ranks, so they can finish the
  /// step, save and leave together. Collective; costs an all-reduce of eight bytes: ask once a step.
  ///
  /// With the first call, a signal is only noted on this rank; until then, and in a program that never asks, signals
  /// end the process as they do any other. A program that asks should go on asking. A second signal more than two
  /// seconds after the first ends the process at once. Signals that the program was started to ignore stay ignored;
  /// handlers of its own are set aside until the body of `run` is left.
  /// @throws CommunicationError when a rank has ended: then there is nothing to save together
  bool stop_requested() const;

 private:
  friend int run(int, char**, const std::function<void(Environment&)>&);
  Environment(detail::Job& job, Settings settings);
  Communicator world_;
  Settings settings_;
  std::unique_ptr<detail::StopSignals> signals_;
};

/// Starts communication, calls `body`, and ends the job:
/// `return renga::run(argc, argv, [](renga::Environment& environment) { ... });`
///
/// Started by mpiexec or srun (Open MPI, MPICH, PMIx), MPI connects the processes; alone, the process is a world of
/// one and no communication library is started. Returns 0; 1 when `body` threw, here or on another rank; 2 on a
/// `UsageError`. An error is printed once, as "[rank 2/8] ...", by the lowest rank that has it, and every process of
/// the job ends with a code that is not 0, within seconds: also those that wait for the rank that failed.
///
/// A thread, asleep all the time, watches the other processes on this host and the launcher. When one is gone without
/// a word, waits throw `CommunicationError`; if `body` does not come back within two seconds, the thread ends the
/// process. Processes on other hosts are left to the launcher and to `RENGA_TIMEOUT`.
int run(int argc, char** argv, const std::function<void(Environment&)>& body);

}  // namespace renga
