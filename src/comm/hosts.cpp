// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

// cpu_set_t ends at 1024 cores; larger machines need a set of their own size.
std::vector<int> usable_cores() {
  for (int limit = 1024; limit <= (1 << 18); limit *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(limit),
                                                               [](cpu_set_t* held) { CPU_FREE(held); });
    const std::size_t bytes = CPU_ALLOC_SIZE(limit);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      continue;
    }
    std::vector<int> cores;
    for (int core = 0; core < limit; ++core) {
      if (CPU_ISSET_S(core, bytes, set.get())) {
        cores.push_back(core);
      }
    }
    return cores;
  }
  std::vector<int> all(std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t core = 0; core < all.size(); ++core) {
    all[core] = static_cast<int>(core);
  }
  return all;
}

}  // namespace

Place here() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return {name.data(), usable_cores()};
}

Position locate(const std::vector<Place>& places, int rank) {
  const std::string& own = places.at(static_cast<std::size_t>(rank)).host;
  Position position{0, 0, 0, 0, 0};
  std::set<std::string> hosts;
  std::set<int> cores;
  for (std::size_t r = 0; r < places.size(); ++r) {
    const bool first_of_host = hosts.insert(places[r].host).second;
    if (places[r].host != own) {
      continue;
    }
    if (first_of_host) {
      position.inter_rank = static_cast<int>(hosts.size()) - 1;
    }
    position.intra_rank += static_cast<int>(r) < rank ? 1 : 0;
    position.intra_size += 1;
    cores.insert(places[r].cores.begin(), places[r].cores.end());
  }
  position.inter_size = static_cast<int>(hosts.size());
  position.host_cores = std::max(1, static_cast<int>(cores.size()));
  return position;
}

std::string place_text(const Place& place) {
  std::string line = place.host;
  for (const int core : place.cores) {
    line += '\t' + std::to_string(core);
  }
  return line;
}

Place parse_place(const std::string& line) {
  const std::vector<std::string> words = split_text(line, '\t');
  Place place{words.empty() ? "" : words.front(), {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    place.cores.push_back(std::stoi(words[i]));
  }
  return place;
}

}  // namespace renga::detail
