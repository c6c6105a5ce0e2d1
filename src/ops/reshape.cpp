// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <ATen/Functions.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/geometry.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// view and its kin. Row-major order maps each group of old dims to a group of new dims of the same
// product; a split dim stays split if it leads its group, since then its blocks are runs of rows:
//
//     [13 (split), 3, 32, 32] -> [13, 3072]       groups {0}:{0} {1,2,3}:{1}
//     [13 (split), 4]         -> [52]             blocks of 4 rows each
namespace renga {
namespace {

using Sizes = std::vector<std::int64_t>;

// Moves the cut of old dim `from`, whose rows have `old_row` elements, to a dim with rows of `new_row`.
bool move_cut(const Cuts& cut, std::int64_t old_row, std::int64_t new_row, Cuts& out) {
  out.clear();
  for (const auto at : cut) {
    if (new_row == 0 || at * old_row % new_row != 0) {
      return false;
    }
    out.push_back(at * old_row / new_row);
  }
  return true;
}

struct Group {
  std::size_t old_begin = 0, old_end = 0, new_begin = 0, new_end = 0;
};

std::vector<Group> match_dims(const Sizes& before, const Sizes& after) {
  std::vector<Group> groups;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() && j < after.size()) {
    Group group{i, i + 1, j, j + 1};
    std::int64_t left = before[i++];
    std::int64_t right = after[j++];
    while (left != right && (i < before.size() || j < after.size())) {
      if ((left < right && i < before.size()) || j >= after.size()) {
        left *= before[i++];
      } else {
        right *= after[j++];
      }
    }
    group.old_end = i;
    group.new_end = j;
    groups.push_back(group);
  }
  if (!groups.empty()) {  // what is left over has size 1
    groups.back().old_end = before.size();
    groups.back().new_end = after.size();
  }
  return groups;
}

std::int64_t product(const Sizes& sizes, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t d = begin; d < end; ++d) {
    result *= sizes[d];
  }
  return result;
}

// Carries the splits of one group over; false when a split dim does not lead it.
bool carry_group(const Spec& spec, const Sizes& after, const Group& group, Placements& placements,
                 std::vector<Cuts>& cuts) {
  for (std::size_t d = group.old_begin; d < group.old_end; ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    if (!spec.is_split(dim)) {
      continue;
    }
    std::size_t target = group.new_begin;
    const bool same = d < group.old_end && target < group.new_end;
    const std::int64_t old_row = product(spec.sizes, d + 1, group.old_end);
    // Skip leading new dims of size 1, unless the split dim has size 1 itself.
    while (same && target + 1 < group.new_end && after[target] == 1 && spec.sizes[d] != 1) {
      ++target;
    }
    if (!same || product(spec.sizes, group.old_begin, d) != 1 || !cuts[target].empty() ||
        !move_cut(spec.cuts[d], old_row, product(after, target + 1, group.new_end), cuts[target])) {
      return false;
    }
    for (std::size_t axis = 0; axis < placements.size(); ++axis) {
      if (spec.placements[axis].is_shard(dim)) {
        placements[axis] = Shard(static_cast<std::int64_t>(target));
      }
    }
  }
  return true;
}

// The spec of the reshaped tensor, or null when its pieces would not be those of the old one.
SpecPtr reshaped_spec(const SpecPtr& spec, const Sizes& sizes) {
  if (!spec->is_split()) {
    return replicated_spec(spec->mesh, sizes);
  }
  Placements placements(spec->placements.size());
  std::vector<Cuts> cuts(sizes.size());
  for (const auto& group : match_dims(spec->sizes, sizes)) {
    if (!carry_group(*spec, sizes, group, placements, cuts)) {
      return nullptr;
    }
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!cuts[d].empty() && cuts[d].back() != sizes[d]) {
      return nullptr;
    }
  }
  const auto count = [](const Placements& all) {
    return std::count_if(all.begin(), all.end(), [](Placement p) { return p.is_shard(); });
  };
  return count(placements) == count(spec->placements) ? make_spec(spec->mesh, placements, sizes, cuts) : nullptr;
}

// Puts a channels_last tensor into row-major order, so that it can be viewed as one process would. Not where
// other views share its memory.
bool make_row_major(const at::Tensor& self) {
  State& here = state(self);
  settle(*here.memory);
  if (here.memory.use_count() != 1 || !here.local.is_same(here.memory->root) || here.memory->source) {
    return false;
  }
  here.local = here.local.contiguous();
  here.memory->root = here.local;
  impl(self).set_geometry(self.sizes(), row_major_strides(self.sizes()), 0);
  return true;
}

// The same where that cannot be: a copy kept equal to its base.
at::Tensor reordered_view(const at::Tensor& self, const SpecPtr& wanted, const Sizes& sizes) {
  resolve(self);
  const SpecPtr spec = wanted ? wanted : replicated_spec(spec_of(self)->mesh, sizes);
  const at::Tensor from = wanted ? local_tensor(self) : whole(self);
  const at::Tensor value = from.clone(at::MemoryFormat::Contiguous).view(spec->local_sizes());
  const at::Tensor copy = wrap(value, spec);
  Source source;
  source.base = wrap_state(self);
  source.seen = state(self).memory->epoch;
  source.spec = spec;
  source.is_reordered = true;
  source.replay = [sizes](const at::Tensor& base) { return base.reshape(sizes); };
  source.write_back = [](const at::Tensor& base, const at::Tensor& written_value) {
    base.copy_(written_value.reshape(base.sizes()));
  };
  state(copy).memory->source = std::move(source);
  return copy;
}

bool is_channels_last(const at::Tensor& tensor) {
  return !image_order(tensor).empty() && tensor.is_non_overlapping_and_dense();
}

bool view(Call& call) {
  const at::Tensor self = call.tensor(0);
  const Sizes sizes = infer_sizes(call.ints(1), self.numel());
  const SpecPtr spec = reshaped_spec(spec_of(self), sizes);
  ViewStrides geometry = view_strides(self.sizes(), self.strides(), sizes);
  if (!geometry.viewable && is_channels_last(self)) {
    if (!make_row_major(self)) {
      call.give_all(reordered_view(self, spec, sizes));
      return true;
    }
    geometry = view_strides(self.sizes(), self.strides(), sizes);
  }
  if (!geometry.viewable) {
    throw InvalidArgument(text("view: sizes ", sizes_text(sizes), " do not fit the strides ",
                               sizes_text(self.strides()), " of sizes ", sizes_text(self.sizes()), "; use reshape"));
  }
  if (!spec) {
    return false;
  }
  const at::Tensor local = local_tensor(self).view(spec->local_sizes());
  call.give_all(wrap_view(self, local, spec, geometry.strides, self.storage_offset()));
  return true;
}

// Explicit strides speak of the whole tensor; they are what view computes.
bool reshape_alias(Call& call) {
  if (view(call)) {
    return true;
  }
  // Gathered as a view: applied to a gathered tensor the strides would read foreign memory.
  call.give(Call::run_other("aten::view", "", {call[0], call[1]}));
  return true;
}

// Free to copy: its result is not seen as a view.
bool unsafe_view(Call& call) {
  const at::Tensor self = call.tensor(0);
  const Sizes sizes = infer_sizes(call.ints(1), self.numel());
  const SpecPtr spec = reshaped_spec(spec_of(self), sizes);
  const ViewStrides geometry = view_strides(self.sizes(), self.strides(), sizes);
  if (!spec || !geometry.viewable) {
    return false;
  }
  const at::Tensor local = local_tensor(self).view(spec->local_sizes());
  call.give_all(wrap_view(self, local, spec, geometry.strides, self.storage_offset()));
  return true;
}

}  // namespace

Rules reshape_rules() {
  return {
      {"aten::view", &view},
      {"aten::_reshape_alias", &reshape_alias},
      {"aten::_unsafe_view", &unsafe_view},
  };
}

}  // namespace renga
