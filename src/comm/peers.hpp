// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "renga/comm/communicator.hpp"

#include "card.hpp"
#include "peer_process.hpp"

namespace renga::detail {

/// A process on this host without which the job cannot go on.
struct Peer {
  int rank;          ///< in the world; kLauncher for the process that started this one
  std::string name;  ///< "rank 1 (pid 1234)"
  PeerProcess process;
  std::optional<Card> card;  ///< nothing where the system does not let us see it
};

constexpr int kLauncher = -1;

/// The other ranks of the world that run on this host, in their order. Collective.
/// @param own  this process's card, which the others will see
std::vector<Peer> find_peers(const Communicator& world, const Card& own);

/// The process that started this one. Nothing if that is the host's first process, which takes over orphans.
std::optional<Peer> find_launcher();

}  // namespace renga::detail
