// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "group.hpp"

namespace renga::detail {

/// The dtype and sizes of a tensor as a row of numbers that has one length for all.
at::Tensor shape_row(const char* operation, const at::Tensor& tensor);
constexpr std::int64_t kShapeRow = 18;  ///< dtype, number of dims, up to 16 sizes

/// A new tensor of the dtype and sizes in a row.
at::Tensor tensor_of_row(const at::Tensor& row);

/// @throws Mismatch unless every row has the dtype of the first; every rank has the same rows' dtypes
void require_same_dtype(const Call& call, const std::vector<at::Tensor>& rows);

}  // namespace renga::detail
