// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include "renga/tensor/spec.hpp"
#include "renga/tensor/state.hpp"

// How rules derive the specs of results and operands. All of it decides on specs and sizes alone.
namespace renga {

inline std::size_t at_index(std::int64_t dim) { return static_cast<std::size_t>(dim); }

inline const SpecPtr& spec_of(const at::Tensor& tensor) { return state(tensor).spec; }

/// Whether the tensor is distributed and some dim of it is cut.
bool is_split(const at::Tensor& tensor);

/// Whether the tensor is distributed and neither cut nor Partial: every rank holds all of it.
bool is_replicated(const at::Tensor& tensor);

/// The spec of a result of other sizes: dim d of `from` becomes dim `to[d]` of the result with the same
/// cuts, or is not split any more where `to[d]` is -1.
SpecPtr mapped_spec(const Spec& from, std::span<const std::int64_t> to, std::vector<std::int64_t> sizes);

/// The same tensor with these dims not split; returns `spec` itself when none of them is.
SpecPtr without_dims(const SpecPtr& spec, std::span<const std::int64_t> dims);

/// The spec of a broadcast result of `sizes`: each axis follows the first operand that is cut along it
/// in a dim that is not being broadcast. Returns an operand's own spec where that is the answer;
/// null when no operand is distributed.
SpecPtr broadcast_spec(std::span<const at::Tensor> operands, at::IntArrayRef sizes);

/// The spec an operand of these sizes needs beside a result of spec `target`: as `target`, but not split
/// in dims that it broadcasts. Returns `target` itself when the sizes are the same.
SpecPtr operand_spec(const SpecPtr& target, at::IntArrayRef sizes);

/// Whether this rank is the first along each of `axes`: the one that adds what must be added once.
bool is_first(const DeviceMesh& mesh, AxisSet axes);

// -- memory order -----------------------------------------------------------------------------------------

/// The memory order of what window operators (convolution, pooling, resizing) make, as strides that sort the
/// dims: channels_last for images [N, C, H, W], on which their kernels are fastest; else that of `tensor`
/// (channels_last or contiguous). By sizes and global strides alone: an order is agreed.
std::vector<std::int64_t> window_order(const at::Tensor& tensor);

/// A piece in that order; copied only if it has another.
at::Tensor in_window_order(const at::Tensor& local);

/// Global strides that say channels_last, where `tensor` does; else empty (contiguous).
std::vector<std::int64_t> image_order(const at::Tensor& tensor);

/// The global strides that a copy of `self` gets which is asked for memory format `format` (None or a
/// `MemoryFormat`), as `clone` and `empty_like` read it; empty means contiguous.
std::vector<std::int64_t> requested_order(const at::Tensor& self, const c10::IValue& format);

}  // namespace renga
