// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga {

using Strides = std::vector<std::int64_t>;

Strides row_major_strides(at::IntArrayRef sizes);

/// Dense strides for `sizes` with dims in the memory order of `order` (as many strides as sizes, larger
/// stride = outer dim; ties keep the order of dims).
Strides ordered_strides(at::IntArrayRef sizes, at::IntArrayRef order);

/// Whether a tensor of these sizes and strides is dense in the memory order of `order`. Dims of size 1
/// and empty tensors fit any order: that is why an order is agreed and never read off a piece.
bool has_order(const at::Tensor& tensor, at::IntArrayRef order);

/// The strides a view of these sizes has on memory of `old_sizes` and `old_strides`, as
/// `Tensor::view` computes them; empty when no such view exists (and `sizes` is not empty).
/// A 0-d result is reported through `viewable`.
struct ViewStrides {
  Strides strides;
  bool viewable = false;
};
ViewStrides view_strides(at::IntArrayRef old_sizes, at::IntArrayRef old_strides, at::IntArrayRef sizes);

/// Sizes with one -1 replaced so that the number of elements is `numel`.
std::vector<std::int64_t> infer_sizes(at::IntArrayRef sizes, std::int64_t numel);

}  // namespace renga
