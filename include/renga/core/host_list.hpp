// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace renga {

/// Processes that a host may run.
struct HostSlots {
  std::string host;
  std::int64_t slots = 1;
  bool operator==(const HostSlots&) const = default;
};

/// The hosts of a SLURM list, in its order: "node[01-03,07],rack[1-2]n[1-2]-ib,login-2" names node01, node02, node03, node07,
/// rack1n1-ib, rack1n2-ib, rack2n1-ib, rack2n2-ib, login-2. Numbers keep the width they begin with.
/// @throws InvalidArgument naming the part that is not of this form
std::vector<std::string> expand_hosts(const std::string& list);

/// As above, each host with the processes that follow it: "node[1-2]:4,login". An address has brackets:
/// "[fe80::1]:4".
std::vector<HostSlots> parse_hosts(const std::string& list);

/// SLURM's way of saying how many processes each host has: "2(x3),1" is 2, 2, 2, 1.
/// @throws InvalidArgument if it is not of this form
std::vector<std::int64_t> expand_counts(const std::string& counts);

}  // namespace renga
