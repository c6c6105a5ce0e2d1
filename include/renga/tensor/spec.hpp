// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "renga/core/partition.hpp"
#include "renga/mesh/device_mesh.hpp"
#include "renga/tensor/placement.hpp"

namespace renga {

/// How a tensor is split over a mesh; the same on every rank, immutable, shared.
///
/// A dim may be cut along several axes: the axes that shard it form one row-major block index, so
///
///     mesh data=2, height=2; placements [Shard(0), Shard(0)]; dim 0 of length 10
///     cuts[0] = {0, 3, 6, 8, 10}, blocks owned by ranks 0 1 2 3
///
/// Partial never appears here: whether memory still waits for its sum belongs to the memory (all
/// views of it share that), see `State`.
struct Spec {
  DeviceMesh mesh;
  Placements placements;            ///< one for each axis: Replicate or Shard
  std::vector<std::int64_t> sizes;  ///< of the whole tensor
  std::vector<Cuts> cuts;           ///< one for each dim; empty for a dim that is not cut

  std::int64_t dim() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t numel() const;
  bool is_split() const;  ///< some axis shards some dim
  bool is_split(std::int64_t dim) const { return !cuts[static_cast<std::size_t>(dim)].empty(); }

  /// The axes that shard `dim`, as a set.
  AxisSet axes_of(std::int64_t dim) const;
  /// Index of this rank's block along `dim`.
  std::int64_t block_index(std::int64_t dim) const;
  /// The indices of `dim` that this rank owns; the whole dim when it is not cut.
  Range own(std::int64_t dim) const;
  /// Sizes of this rank's piece.
  std::vector<std::int64_t> local_sizes() const;

  bool operator==(const Spec& other) const;
  std::string text() const;
};

using SpecPtr = std::shared_ptr<const Spec>;

/// A spec with even cuts.
/// @throws InvalidArgument if a placement is Partial or names a dim the tensor does not have, or
///         there is not one placement for each axis
SpecPtr make_spec(const DeviceMesh& mesh, const Placements& placements, std::vector<std::int64_t> sizes);

/// A spec with the given cuts: `cuts[d]` is used for a dim that some axis shards and ignored elsewhere.
SpecPtr make_spec(const DeviceMesh& mesh, const Placements& placements, std::vector<std::int64_t> sizes,
                  std::vector<Cuts> cuts);

/// Nothing is split.
SpecPtr replicated_spec(const DeviceMesh& mesh, std::vector<std::int64_t> sizes);

/// Number of blocks `axes` make together.
std::int64_t block_count(const DeviceMesh& mesh, AxisSet axes);

}  // namespace renga
