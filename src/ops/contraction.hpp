// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "layout.hpp"

namespace renga {

/// One index of a contraction, and where it stands in the operands and the result; -1: not there.
/// A matrix product has m (0, -1, 0), k (1, 0, -1) and n (-1, 1, 1).
struct ContractedIndex {
  std::int64_t left;
  std::int64_t right;
  std::int64_t result;
};

/// How both operands have to be split for each rank to contract its pieces by itself.
struct Contraction {
  SpecPtr left;
  SpecPtr right;
  SpecPtr result;
  AxisSet partial = 0;  ///< axes that split an index which is summed over: the result is Partial there
};

/// Along each mesh axis the left operand's split is followed; where it has none, the right one's; the
/// other operand is made to fit. Either operand may be plain. Decides on specs alone.
///
///     x [n | split, k] @ w [k, m]          -> y [n | split, m]
///     x [n, k | split] @ w [k | split, m]  -> y [n, m] Partial
Contraction plan_contraction(const at::Tensor& left, const at::Tensor& right,
                             const std::vector<ContractedIndex>& indices, std::vector<std::int64_t> result_sizes);

/// Warns, once, when a layer's input is replicated on a mesh that has several ranks along "data": every rank
/// then computes the same, which is hardly what was meant. Silent where no gradient is wanted.
void warn_if_replicated(const at::Tensor& input);

}  // namespace renga
