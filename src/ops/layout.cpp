// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

#include <algorithm>

#include <ATen/Functions.h>

namespace renga {

bool is_split(const at::Tensor& tensor) { return is_dtensor(tensor) && spec_of(tensor)->is_split(); }

bool is_replicated(const at::Tensor& tensor) {
  return is_dtensor(tensor) && !spec_of(tensor)->is_split() && partial_axes(tensor) == 0;
}

SpecPtr mapped_spec(const Spec& from, std::span<const std::int64_t> to, std::vector<std::int64_t> sizes) {
  Placements placements(from.placements.size());
  std::vector<Cuts> cuts(sizes.size());
  for (std::size_t axis = 0; axis < placements.size(); ++axis) {
    if (from.placements[axis].is_shard()) {
      const std::int64_t source = from.placements[axis].dim();
      const std::int64_t target = to[at_index(source)];
      if (target >= 0) {
        placements[axis] = Shard(target);
        cuts[at_index(target)] = from.cuts[at_index(source)];
      }
    }
  }
  return make_spec(from.mesh, placements, std::move(sizes), std::move(cuts));
}

SpecPtr without_dims(const SpecPtr& spec, std::span<const std::int64_t> dims) {
  if (std::none_of(dims.begin(), dims.end(), [&](std::int64_t d) { return spec->is_split(d); })) {
    return spec;
  }
  std::vector<std::int64_t> to(spec->sizes.size());
  for (std::size_t d = 0; d < to.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    to[d] = std::find(dims.begin(), dims.end(), dim) == dims.end() ? dim : -1;
  }
  return mapped_spec(*spec, to, spec->sizes);
}

namespace {

// Adds what `operand` says about axes that `placements` leaves replicated.
void follow(const at::Tensor& operand, at::IntArrayRef sizes, Placements& placements, std::vector<Cuts>& cuts) {
  const Spec& spec = *spec_of(operand);
  const std::int64_t shift = static_cast<std::int64_t>(sizes.size()) - spec.dim();
  for (std::size_t axis = 0; axis < placements.size(); ++axis) {
    const std::int64_t dim = spec.placements[axis].dim();
    if (!placements[axis].is_replicate() || dim < 0 || spec.sizes[at_index(dim)] != sizes[at_index(dim + shift)]) {
      continue;
    }
    placements[axis] = Shard(dim + shift);
    Cuts& cut = cuts[at_index(dim + shift)];
    if (cut.empty()) {
      cut = spec.cuts[at_index(dim)];
    }
  }
}

}  // namespace

SpecPtr broadcast_spec(std::span<const at::Tensor> operands, at::IntArrayRef sizes) {
  SpecPtr whole_size;  // of the first operand that has the result's sizes
  SpecPtr any;
  bool same = true;
  for (const auto& operand : operands) {
    if (!is_dtensor(operand)) {
      continue;
    }
    const SpecPtr& spec = spec_of(operand);
    any = any ? any : spec;
    if (at::IntArrayRef(spec->sizes) == sizes && (spec->is_split() || !whole_size)) {
      same = same && (!whole_size || !whole_size->is_split() || spec == whole_size || *spec == *whole_size);
      whole_size = whole_size && whole_size->is_split() ? whole_size : spec;
    } else {
      same = same && !spec->is_split();
    }
  }
  if (!any) {
    return nullptr;
  }
  if (same && whole_size) {
    return whole_size;
  }
  Placements placements(any->placements.size());
  std::vector<Cuts> cuts(sizes.size());
  for (const auto& operand : operands) {
    if (is_dtensor(operand)) {
      follow(operand, sizes, placements, cuts);
    }
  }
  // Two operands may each cut a dim along another axis; the blocks of one then do not fit the product.
  const auto draft = Spec{any->mesh, placements, sizes.vec(), cuts};
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const AxisSet axes = draft.axes_of(static_cast<std::int64_t>(d));
    if (static_cast<std::int64_t>(cuts[d].size()) != block_count(any->mesh, axes) + 1) {
      cuts[d].clear();
    }
  }
  return make_spec(any->mesh, placements, sizes.vec(), std::move(cuts));
}

SpecPtr operand_spec(const SpecPtr& target, at::IntArrayRef sizes) {
  if (at::IntArrayRef(target->sizes) == sizes) {
    return target;
  }
  const std::int64_t shift = target->dim() - static_cast<std::int64_t>(sizes.size());
  std::vector<std::int64_t> to(target->sizes.size(), -1);
  for (std::int64_t d = std::max<std::int64_t>(shift, 0); d < target->dim(); ++d) {
    const bool broadcast = sizes[at_index(d - shift)] != target->sizes[at_index(d)];
    to[at_index(d)] = broadcast ? -1 : d - shift;
  }
  return mapped_spec(*target, to, sizes.vec());
}

bool is_first(const DeviceMesh& mesh, AxisSet axes) {
  for (int i = 0; i < mesh.axis_count(); ++i) {
    if ((axes >> i & 1U) != 0 && mesh.axis(i).coordinate != 0) {
      return false;
    }
  }
  return true;
}

std::vector<std::int64_t> window_order(const at::Tensor& tensor) {
  if (tensor.dim() == 4) {
    return {4, 1, 3, 2};
  }
  return image_order(tensor);
}

at::Tensor in_window_order(const at::Tensor& local) {
  return local.dim() == 4 ? local.contiguous(at::MemoryFormat::ChannelsLast) : local;
}

std::vector<std::int64_t> requested_order(const at::Tensor& self, const c10::IValue& format) {
  const auto wanted = format.isNone() ? at::MemoryFormat::Preserve : format.toMemoryFormat();
  if (wanted == at::MemoryFormat::Preserve) {
    return self.strides().vec();
  }
  if (wanted == at::MemoryFormat::Contiguous) {
    return {};
  }
  return at::empty(self.sizes(), at::TensorOptions().device(at::kMeta).memory_format(wanted)).strides().vec();
}

std::vector<std::int64_t> image_order(const at::Tensor& tensor) {
  const auto format = tensor.suggest_memory_format();
  const bool last = format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d;
  return last ? tensor.strides().vec() : std::vector<std::int64_t>{};
}

}  // namespace renga
