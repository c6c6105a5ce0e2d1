// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/backend.hpp"

namespace renga::detail {

/// Whether `reduce` takes this dtype and operator.
bool can_reduce(at::ScalarType dtype, ReduceOp op);

/// Each target becomes the reduction of the sources, element by element, in the order of the sources: ranks that pass the
/// same sources get the same bits. A target may be a source. Half and bfloat16 are added in float and rounded once.
void reduce(const std::vector<const char*>& sources, const std::vector<char*>& targets, std::int64_t elements,
            at::ScalarType dtype, ReduceOp op);

}  // namespace renga::detail
