// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "renga/comm/backend.hpp"

#include "outcome.hpp"

namespace renga::detail {

/// The processes that were started together.
struct Job {
  std::shared_ptr<Backend> world;
  std::shared_ptr<Backend> verdicts;  ///< apart from `world`, which may be broken when it is needed
  std::function<void()> finalize;     ///< ends the communication library; may block
};

/// Finds out how this process was started and connects it.
Job start_job();

/// Agrees with the other ranks on how the job ended, prints this rank's error if it is the one to
/// print it, and ends the communication. Returns the exit code, or ends the whole job when a rank
/// cannot be heard: the ranks that wait for one that failed must not wait for ever.
/// @param patience  how long a rank that succeeded waits for the others
int end_job(Job& job, const Outcome& own, std::chrono::duration<double> patience);

/// Prints "[rank 2/8] message" on standard error, without the prefix when alone.
void print_error(const std::string& message, int rank, int size);

}  // namespace renga::detail
