// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "renga/tensor/spec.hpp"

namespace renga {

/// This rank's piece of `tensor` under `target`, plain. `tensor` may be plain (it counts as
/// replicated), replicated, split or Partial (which is resolved first). Shares memory where nothing
/// has to move. Collective where something has to. Not differentiable.
at::Tensor piece(const at::Tensor& tensor, const SpecPtr& target);

/// The whole of `tensor`, plain, on every rank; shares memory with a replicated one.
at::Tensor whole(const at::Tensor& tensor);

/// Moves a piece from one spec to another of the same sizes and mesh.
///
/// Per dim: what the target does not split is gathered over the axes that split it; what both split
/// over the same axes but at other cuts is exchanged, each rank sending own ∩ needed to each other;
/// the rest is narrowed. Cost: one collective for each dim that changes.
at::Tensor move_piece(const at::Tensor& local, const Spec& from, const Spec& to);

/// Writes a whole value into the piece of `tensor` on this rank. No communication.
void write_piece(const at::Tensor& tensor, const at::Tensor& whole);

}  // namespace renga
