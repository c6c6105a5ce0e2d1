// SPDX-License-Identifier: Apache-2.0
#include "renga/core/partition.hpp"

#include <algorithm>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {

Range intersect(Range a, Range b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

Cuts even_cuts(std::int64_t length, std::int64_t blocks) {
  if (length < 0 || blocks < 1) {
    throw InvalidArgument(text("even_cuts: cannot cut length ", length, " into ", blocks, " blocks"));
  }
  Cuts cuts(static_cast<std::size_t>(blocks) + 1);
  const std::int64_t quotient = length / blocks;
  const std::int64_t remainder = length % blocks;
  for (std::int64_t k = 0; k <= blocks; ++k) {
    cuts[static_cast<std::size_t>(k)] = k * quotient + std::min(k, remainder);
  }
  return cuts;
}

Range block(const Cuts& cuts, std::int64_t index) {
  const std::int64_t blocks = static_cast<std::int64_t>(cuts.size()) - 1;
  if (index < 0 || index >= blocks) {
    throw InvalidArgument(text("block: index: expected one of ", blocks, " blocks, got ", index));
  }
  const auto k = static_cast<std::size_t>(index);
  return {cuts[k], cuts[k + 1]};
}

}  // namespace renga
