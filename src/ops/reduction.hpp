// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include "layout.hpp"

namespace renga {

enum class KeepDim { No, Yes };

/// What a reduction over some dims of a distributed tensor means for its split.
struct Reduction {
  std::vector<std::int64_t> dims;  ///< reduced, counted from the front
  AxisSet axes = 0;                ///< axes that split a reduced dim: partial results are theirs to combine
  std::int64_t count = 1;          ///< global number of elements behind one result
  SpecPtr spec;                    ///< of the result
};

/// A dims argument: None, one integer or a list.
std::vector<std::int64_t> optional_ints(const c10::IValue& value);
KeepDim keep_dim(const c10::IValue& value);

/// No dims means all of them.
Reduction make_reduction(const at::Tensor& self, std::vector<std::int64_t> dims, KeepDim keep);

/// Every rank's block along `axes`, stacked in a new dim 0, in rank order. Collective.
at::Tensor gather_blocks(const at::Tensor& block, const DeviceMesh& mesh, AxisSet axes);

}  // namespace renga
