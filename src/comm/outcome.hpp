// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "renga/comm/backend.hpp"

#include "peer_watch.hpp"

namespace renga::detail {

/// How the body of `run` ended on one rank.
struct Outcome {
  int exit_code = 0;
  std::string message;  ///< empty unless it failed
  std::string topic;    ///< what ranks that fail alike have in common, and one of them prints: mostly the message
  bool failed() const { return exit_code != 0; }
};

/// Runs `body` and turns what it throws into an outcome.
Outcome attempt(const std::function<void()>& body);

/// What this rank learned about another's end.
struct Verdict {
  int exit_code = 0;
  std::uint64_t topic_hash = 0;
};

/// One a rank; nothing for a rank that has not ended.
using Verdicts = std::vector<std::optional<Verdict>>;

/// Tells every rank how this one ended and hears of the others', for at most `limit`, and not for long once a process
/// is lost. Does not throw: a rank that cannot be reached is one that has not ended.
Verdicts exchange_verdicts(Backend& backend, const Outcome& own, std::chrono::duration<double> limit, PeerWatch& watch);

bool all_known(const Verdicts& verdicts);
bool any_failed(const Verdicts& verdicts);

/// Whether this rank is the lowest known one that fails as `outcome` says, so that it is the one to print it. The verdict
/// of a rank that learned of the failure while it waited for the others says that it succeeded.
bool speaks(const Verdicts& verdicts, int rank, const Outcome& outcome);

/// Whether the known failures have more than one topic.
bool differ(const Verdicts& verdicts);

}  // namespace renga::detail
