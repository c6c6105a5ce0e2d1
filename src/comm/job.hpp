// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "renga/comm/backend.hpp"
#include "renga/comm/communicator.hpp"

#include "discovery.hpp"
#include "outcome.hpp"
#include "peer_watch.hpp"

namespace renga::detail {

/// The processes that were started together.
struct Job {
  Launcher launcher = Launcher::None;
  std::shared_ptr<Backend> world;
  std::shared_ptr<Backend> verdicts;  ///< apart from `world`, which may be broken when it is needed
  std::function<void()> finalize;     ///< ends the communication library; may block
  std::shared_ptr<PeerWatch> watch = std::make_shared<PeerWatch>();
};

/// Finds out how this process was started and connects it. When that takes longer than `timeout`, and than a minute, prints
/// so and ends the process: no library lets go of a rank that waits for one that never starts.
Job start_job(std::chrono::duration<double> timeout);

/// Watches the other ranks on this host and the launcher from now on. Collective over the world.
void watch_over(Job& job, const Communicator& world);

/// Agrees with the other ranks on how the job ended, prints this rank's error if it is the one to
/// print it, and ends the communication. Returns the exit code, or ends the whole job when a rank
/// cannot be heard: the ranks that wait for one that failed must not wait for ever.
/// @param patience  how long a rank that succeeded waits for the others
int end_job(Job& job, const Outcome& own, std::chrono::duration<double> patience);

/// Prints "[rank 2/8] message" on standard error, without the prefix when alone.
void print_error(const std::string& message, int rank, int size);

}  // namespace renga::detail
