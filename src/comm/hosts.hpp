// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace renga::detail {

/// Where one rank runs.
struct Place {
  std::string host;
  std::vector<int> cores;  ///< those the scheduler lets it use
};

/// One rank's position among hosts, as ChainerMN counts it.
struct Position {
  int intra_rank = 0;
  int intra_size = 1;
  int inter_rank = 0;
  int inter_size = 1;
  int host_cores = 1;  ///< distinct cores the ranks of this host may use
};

/// This process's host name and cores.
Place here();

/// Hosts are numbered in the order of their lowest rank.
Position locate(const std::vector<Place>& places, int rank);

/// One line of text for a place, and back.
std::string place_text(const Place& place);
Place parse_place(const std::string& line);

}  // namespace renga::detail
