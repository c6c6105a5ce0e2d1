// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/mesh/device_mesh.hpp"
#include "renga/tensor/placement.hpp"
#include "renga/tensor/spec.hpp"

namespace renga {

/// Which dim each named axis cuts: {{"data", 0}, {"height", 2}}. Axes not named replicate; axes the
/// mesh does not have are an error unless their size would be 1.
using AxisDims = std::vector<std::pair<std::string, std::int64_t>>;

Placements placements_of(const DeviceMesh& mesh, const AxisDims& dims);

/// The placement of a batch [N, C, H, W]: dim 0 on axis "data", 2 on "height", 3 on "width".
AxisDims batch(const DeviceMesh& mesh);

/// Whether the tensor is a distributed one. (ATen has an operator `is_distributed`, hence the name.)
bool is_dtensor(const at::Tensor& tensor);

/// Makes a distributed tensor from the whole one, which every rank passes with equal values; each keeps
/// a copy of its own block. No communication. A leaf; requires_grad as that of `tensor`.
at::Tensor shard(const at::Tensor& tensor, const DeviceMesh& mesh, const AxisDims& dims);
at::Tensor shard(const at::Tensor& tensor, const DeviceMesh& mesh, const Placements& placements);

/// Makes a distributed tensor from the pieces that the ranks hold, without copying. Global sizes
/// and cuts come from the pieces' sizes, which are exchanged. Collective.
/// @throws Mismatch on every rank if the pieces do not form a grid or dtypes differ
at::Tensor from_local(const at::Tensor& local, const DeviceMesh& mesh, const Placements& placements);

/// As above where every rank already knows the spec: no communication.
at::Tensor from_local(const at::Tensor& local, const SpecPtr& spec);

/// Factories. Values depend on the seed and the global index only, not on the mesh.
at::Tensor zeros(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                 at::TensorOptions options = {});
at::Tensor ones(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                at::TensorOptions options = {});
at::Tensor rand(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                at::TensorOptions options = {});
at::Tensor randn(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                 at::TensorOptions options = {});

/// This rank's piece, sharing memory; a plain tensor is returned as it is. A Partial tensor gives
/// this rank's summand.
at::Tensor local(const at::Tensor& tensor);

/// The whole tensor, plain, on every rank. A replicated one shares memory: do not write to it.
/// Not differentiable. Collective. Cost: one all-gather of the tensor when it is split.
at::Tensor full(const at::Tensor& tensor);

/// The same values under other placements; differentiable. Collective.
at::Tensor redistribute(const at::Tensor& tensor, const Placements& placements);

/// One placement for each mesh axis, Partial included. Empty for a plain tensor.
Placements placements(const at::Tensor& tensor);

/// The spec of a distributed tensor. @throws InvalidArgument for a plain one
SpecPtr spec(const at::Tensor& tensor);

/// "float32 [13, 3, 32, 32] data=2: [Shard(0)]"; no communication, no values.
std::string describe(const at::Tensor& tensor);

/// Prints the whole tensor on the mesh's rank 0 (standard output). Collective.
void print(const at::Tensor& tensor);

}  // namespace renga
