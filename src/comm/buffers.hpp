// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace renga::detail {

/// A new contiguous tensor with uninitialized elements.
at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype);

/// Contiguous and without a pending conjugation: memory a backend can read or fill as it is.
bool is_plain(const at::Tensor& tensor);

/// The elements of `tensor` in logical order: itself if plain, else a copy.
at::Tensor packed(const at::Tensor& tensor);
std::vector<at::Tensor> packed(const std::vector<at::Tensor>& tensors);

/// A copy that shares no memory with `tensor`, contiguous.
at::Tensor packed_copy(const at::Tensor& tensor);

/// Where a backend may write the elements of `tensor`: itself if plain, else new memory.
at::Tensor landing(const at::Tensor& tensor);
std::vector<at::Tensor> landing(const std::vector<at::Tensor>& tensors);

/// Copies what came into `target`, unless it was written in place. Either way autograd learns that
/// the target has changed, as with any in-place operation.
void put(const at::Tensor& target, const at::Tensor& arrived);
void put(const std::vector<at::Tensor>& targets, const std::vector<at::Tensor>& arrived);

/// Whether two plain tensors share memory.
bool share_memory(const at::Tensor& a, const at::Tensor& b);

}  // namespace renga::detail
