// SPDX-License-Identifier: Apache-2.0
#include "contraction.hpp"

#include <atomic>

#include <c10/core/GradMode.h>

#include "renga/core/log.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

using Field = std::int64_t ContractedIndex::*;

// The index that an operand is split in along one axis.
std::size_t split_index(const at::Tensor& operand, std::size_t axis, const std::vector<ContractedIndex>& indices,
                        Field field) {
  if (!is_dtensor(operand) || !spec_of(operand)->placements[axis].is_shard()) {
    return kNone;
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (spec_of(operand)->placements[axis].is_shard(indices[i].*field)) {
      return i;
    }
  }
  return kNone;
}

// The cuts an operand has for an index, if it is split over exactly these axes.
Cuts cuts_for(const at::Tensor& operand, std::int64_t dim, AxisSet axes) {
  const bool fits = dim >= 0 && is_dtensor(operand) && spec_of(operand)->axes_of(dim) == axes;
  return fits ? spec_of(operand)->cuts[at_index(dim)] : Cuts{};
}

SpecPtr spec_for(const DeviceMesh& mesh, std::vector<std::int64_t> sizes, const std::vector<std::size_t>& index_of_axis,
                 const std::vector<Cuts>& cuts, const std::vector<ContractedIndex>& indices, Field field) {
  Placements placements(index_of_axis.size());
  std::vector<Cuts> own(sizes.size());
  for (std::size_t axis = 0; axis < placements.size(); ++axis) {
    if (index_of_axis[axis] != kNone) {
      const std::int64_t dim = indices[index_of_axis[axis]].*field;
      if (dim >= 0) {
        placements[axis] = Shard(dim);
        own[at_index(dim)] = cuts[index_of_axis[axis]];
      }
    }
  }
  return make_spec(mesh, placements, std::move(sizes), std::move(own));
}

}  // namespace

Contraction plan_contraction(const at::Tensor& left, const at::Tensor& right,
                             const std::vector<ContractedIndex>& indices, std::vector<std::int64_t> result_sizes) {
  const DeviceMesh& mesh = spec_of(is_dtensor(left) ? left : right)->mesh;
  std::vector<std::size_t> index_of_axis(static_cast<std::size_t>(mesh.axis_count()), kNone);
  std::vector<AxisSet> axes_of_index(indices.size(), 0);
  Contraction plan;
  for (std::size_t axis = 0; axis < index_of_axis.size(); ++axis) {
    const std::size_t from_left = split_index(left, axis, indices, &ContractedIndex::left);
    const std::size_t chosen =
        from_left != kNone ? from_left : split_index(right, axis, indices, &ContractedIndex::right);
    index_of_axis[axis] = chosen;
    if (chosen != kNone) {
      axes_of_index[chosen] |= AxisSet{1} << axis;
      plan.partial |= indices[chosen].result < 0 ? AxisSet{1} << axis : 0;
    }
  }
  std::vector<Cuts> cuts(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    cuts[i] = cuts_for(left, indices[i].left, axes_of_index[i]);
    if (cuts[i].empty()) {
      cuts[i] = cuts_for(right, indices[i].right, axes_of_index[i]);
    }
  }
  plan.left = spec_for(mesh, left.sizes().vec(), index_of_axis, cuts, indices, &ContractedIndex::left);
  plan.right = spec_for(mesh, right.sizes().vec(), index_of_axis, cuts, indices, &ContractedIndex::right);
  plan.result = spec_for(mesh, std::move(result_sizes), index_of_axis, cuts, indices, &ContractedIndex::result);
  return plan;
}

void warn_if_replicated(const at::Tensor& input) {
  static std::atomic<bool> warned{false};  // once for the process, as for an operator without a rule
  if (!c10::GradMode::is_enabled() || !is_dtensor(input) || is_split(input) ||
      spec_of(input)->mesh.axis("data").size == 1 || warned.exchange(true)) {
    return;
  }
  log::warning(text("a layer's input is not split, but the mesh is ", spec_of(input)->mesh.text(),
                    ": every rank computes the same; shard the batch, or use renga::data::Loader"));
}

}  // namespace renga
