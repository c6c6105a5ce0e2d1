// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/placement.hpp"

#include "renga/core/text.hpp"

namespace renga {

std::string Placement::text() const {
  switch (kind_) {
    case Kind::Replicate:
      return "Replicate";
    case Kind::Partial:
      return "Partial";
    case Kind::Shard:
      break;
  }
  return renga::text("Shard(", dim_, ")");
}

std::string placements_text(const Placements& placements) {
  std::string out = "[";
  for (std::size_t i = 0; i < placements.size(); ++i) {
    out += (i == 0 ? "" : ", ") + placements[i].text();
  }
  return out + "]";
}

}  // namespace renga
