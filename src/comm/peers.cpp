// SPDX-License-Identifier: Apache-2.0
#include "peers.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

// Where process numbers mean the same: this host since its start, and one set of numbers if it runs containers.
std::string number_space() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code error;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  return boot.empty() || space.empty() ? "unknown" : boot + '/' + space;
}

}  // namespace

std::vector<Peer> find_peers(const Communicator& world, const Card& own) {
  const std::string space = number_space();
  const ProcessId self = own_process();
  const auto lines = world.all_gather_text(text(space, ' ', self.number, ' ', self.started, ' ', own.descriptor()));
  std::vector<Peer> peers;
  for (int rank = 0; rank < world.size(); ++rank) {
    std::istringstream line(lines[static_cast<std::size_t>(rank)]);
    std::string where;
    ProcessId id;
    int card = -1;
    line >> where >> id.number >> id.started >> card;
    if (rank != world.rank() && where == space && where != "unknown" && id.number != 0) {
      peers.push_back(
          {rank, text("rank ", rank, " (pid ", id.number, ')'), PeerProcess(id), Card::of(id.number, card)});
    }
  }
  return peers;
}

std::optional<Peer> find_launcher() {
  const ProcessId parent = parent_process();
  if (parent.number <= 1) {
    return std::nullopt;
  }
  return Peer{kLauncher, text("the launcher, ", program_name(parent), " (pid ", parent.number, ')'),
              PeerProcess(parent), std::nullopt};
}

}  // namespace renga::detail
