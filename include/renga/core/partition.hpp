// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace renga {

/// Half-open range of indices, [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// What two ranges share; empty (size 0) when they do not touch.
Range intersect(Range a, Range b);

/// Where a dim of length n is cut into blocks: block k is [cuts[k], cuts[k + 1]).
/// cuts.front() is 0, cuts.back() is n; blocks may be empty.
using Cuts = std::vector<std::int64_t>;

/// Cuts `length` into `blocks` blocks whose sizes differ by at most one, the larger ones first:
/// even_cuts(10, 3) is {0, 4, 7, 10}.
Cuts even_cuts(std::int64_t length, std::int64_t blocks);

/// Block `index` of `cuts`.
Range block(const Cuts& cuts, std::int64_t index);

}  // namespace renga
