// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/redistribute.hpp"

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

std::size_t index(std::int64_t dim) { return static_cast<std::size_t>(dim); }

at::Tensor gather_dim(const at::Tensor& local, std::int64_t dim, const Spec& from) {
  const Cuts& cuts = from.cuts[index(dim)];
  if (cuts.size() == 2) {
    return local;  // a single block is the whole dim
  }
  auto sizes = local.sizes().vec();
  sizes[index(dim)] = cuts.back();
  const at::Tensor out = at::empty(sizes, local.options());
  std::vector<at::Tensor> blocks;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    blocks.push_back(out.narrow(dim, cuts[k], cuts[k + 1] - cuts[k]));
  }
  from.mesh.over(from.axes_of(dim)).all_gather_into(blocks, local);
  return out;
}

// Own block [a, b) under the old cuts, needed block [c, d) under the new ones: rank r gets the part of
// the own block that lies in its needed block.
at::Tensor exchange_dim(const at::Tensor& local, std::int64_t dim, const Spec& from, const Spec& to) {
  const Range own = from.own(dim);
  const Range needed = to.own(dim);
  auto sizes = local.sizes().vec();
  sizes[index(dim)] = needed.size();
  const at::Tensor out = at::empty(sizes, local.options());
  std::vector<at::Tensor> outgoing;
  std::vector<at::Tensor> incoming;
  for (std::size_t k = 0; k + 1 < from.cuts[index(dim)].size(); ++k) {
    const auto rank = static_cast<std::int64_t>(k);
    const Range give = intersect(own, block(to.cuts[index(dim)], rank));
    outgoing.push_back(local.narrow(dim, std::min(give.begin, own.end) - own.begin, give.size()));
    const Range take = intersect(needed, block(from.cuts[index(dim)], rank));
    incoming.push_back(out.narrow(dim, std::min(take.begin, needed.end) - needed.begin, take.size()));
  }
  from.mesh.over(from.axes_of(dim)).all_to_all_into(incoming, outgoing);
  return out;
}

void check_sizes(const std::vector<std::int64_t>& actual, const Spec& target) {
  if (actual != target.sizes) {
    throw Error(text("redistribute: expected sizes ", sizes_text(target.sizes), ", got ", sizes_text(actual)));
  }
}

at::Tensor narrow_to(at::Tensor piece, const Spec& target, std::int64_t dim) {
  const Range own = target.own(dim);
  return piece.narrow(dim, own.begin, own.size());
}

}  // namespace

at::Tensor move_piece(const at::Tensor& local, const Spec& from, const Spec& to) {
  at::Tensor moved = local;
  std::vector<std::int64_t> narrowed;
  for (std::int64_t d = 0; d < from.dim(); ++d) {
    const AxisSet before = from.axes_of(d);
    const AxisSet after = to.axes_of(d);
    if (before == after) {
      if (before != 0 && from.cuts[index(d)] != to.cuts[index(d)]) {
        moved = exchange_dim(moved, d, from, to);
      }
      continue;
    }
    if (before != 0) {
      moved = gather_dim(moved, d, from);
    }
    if (after != 0) {
      narrowed.push_back(d);
    }
  }
  for (const auto d : narrowed) {
    moved = narrow_to(moved, to, d);
  }
  return moved;
}

at::Tensor piece(const at::Tensor& tensor, const SpecPtr& target) {
  if (!is_dtensor(tensor)) {
    check_sizes(tensor.sizes().vec(), *target);
    at::Tensor piece = tensor;
    for (std::int64_t d = 0; d < target->dim(); ++d) {
      if (target->is_split(d)) {
        piece = narrow_to(piece, *target, d);
      }
    }
    return piece;
  }
  resolve(tensor);
  const State& here = state(tensor);
  if (here.spec == target || *here.spec == *target) {
    return here.local;
  }
  check_sizes(here.spec->sizes, *target);
  if (!(here.spec->mesh == target->mesh)) {
    throw InvalidArgument(text("tensors on two meshes meet: ", here.spec->text(), " and ", target->text()));
  }
  return move_piece(here.local, *here.spec, *target);
}

at::Tensor whole(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return tensor;
  }
  resolve(tensor);
  const State& here = state(tensor);
  return here.spec->is_split() ? move_piece(here.local, *here.spec, *replicated_spec(here.spec->mesh, here.spec->sizes))
                               : here.local;
}

void write_piece(const at::Tensor& tensor, const at::Tensor& whole_value) {
  const State& here = state(tensor);
  const at::Tensor value = piece(whole_value, here.spec);
  if (!value.is_same(here.local)) {
    here.local.copy_(value);
  }
}

}  // namespace renga
