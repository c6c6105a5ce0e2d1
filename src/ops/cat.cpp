// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// cat and stack. Along a dim that is not split every rank joins its pieces. Along a split dim the result
// is cut evenly again, which moves rows between ranks:
//
//     real {0, 32, 64} + fake {0, 32, 64}  ->  {0, 64, 128}: rank 0 holds the real ones, rank 1 the fake
namespace renga {
namespace {

std::vector<at::Tensor> joined_tensors(const c10::IValue& list) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& tensor : list.toTensorVector()) {
    if (!(tensor.dim() == 1 && tensor.numel() == 0)) {  // LibTorch skips these whatever the others are
      tensors.push_back(tensor);
    }
  }
  return tensors;
}

// The first split tensor tells how the others have to be split.
const at::Tensor* leading(const std::vector<at::Tensor>& tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [](const at::Tensor& t) { return is_split(t); });
  return found == tensors.end() ? nullptr : &*found;
}

// channels_last if any image is: one that is not would cost the kernel its straight copies.
std::vector<std::int64_t> joined_order(const std::vector<at::Tensor>& tensors, const at::Tensor& lead) {
  for (const auto& tensor : tensors) {
    if (auto order = image_order(tensor); !order.empty()) {
      return order;
    }
  }
  return lead.strides().vec();
}

at::Tensor join(std::vector<at::Tensor> pieces, std::int64_t dim, at::IntArrayRef order) {
  const bool last = order.size() == 4 && order[1] < order[3];
  for (auto& piece : pieces) {
    piece = last ? in_window_order(piece) : piece;
  }
  return at::cat(pieces, dim);
}

bool same_sizes_but(const std::vector<at::Tensor>& tensors, std::int64_t dim) {
  return std::all_of(tensors.begin(), tensors.end(), [&](const at::Tensor& tensor) {
    bool same = tensor.dim() == tensors.front().dim() && tensor.scalar_type() == tensors.front().scalar_type();
    for (std::int64_t d = 0; same && d < tensor.dim(); ++d) {
      same = d == dim || tensor.size(d) == tensors.front().size(d);
    }
    return same;
  });
}

at::Tensor cat_unsplit(const std::vector<at::Tensor>& tensors, std::int64_t dim, const at::Tensor& lead, SpecPtr spec) {
  std::vector<at::Tensor> pieces;
  auto sizes = spec->sizes;
  sizes[at_index(dim)] = 0;
  for (const auto& tensor : tensors) {
    auto own = spec->sizes;
    own[at_index(dim)] = tensor.size(dim);
    sizes[at_index(dim)] += tensor.size(dim);
    pieces.push_back(piece(tensor, make_spec(spec->mesh, spec->placements, own, spec->cuts)));
  }
  const auto joined = make_spec(spec->mesh, spec->placements, sizes, spec->cuts);
  const auto order = joined_order(tensors, lead);
  return wrap(join(std::move(pieces), dim, order), joined, order);
}

// Each tensor is cut so that every rank receives exactly what lies in its block of the result.
at::Tensor cat_split(const std::vector<at::Tensor>& tensors, std::int64_t dim, const at::Tensor& lead,
                     const SpecPtr& spec) {
  std::int64_t total = 0;
  for (const auto& tensor : tensors) {
    total += tensor.size(dim);
  }
  const auto d = at_index(dim);
  auto sizes = spec->sizes;
  auto cuts = spec->cuts;
  sizes[d] = total;
  cuts[d] = even_cuts(total, static_cast<std::int64_t>(spec->cuts[d].size()) - 1);
  const auto joined = make_spec(spec->mesh, spec->placements, sizes, cuts);
  std::vector<at::Tensor> pieces;
  std::int64_t start = 0;
  for (const auto& tensor : tensors) {
    auto own_cuts = cuts;
    auto own_sizes = sizes;
    own_sizes[d] = tensor.size(dim);
    for (auto& at : own_cuts[d]) {
      at = std::clamp<std::int64_t>(at - start, 0, tensor.size(dim));
    }
    pieces.push_back(piece(tensor, make_spec(spec->mesh, spec->placements, own_sizes, own_cuts)));
    start += tensor.size(dim);
  }
  const auto order = joined_order(tensors, lead);
  return wrap(join(std::move(pieces), dim, order), joined, order);
}

bool cat(Call& call) {
  const auto tensors = joined_tensors(call[0]);
  const at::Tensor* lead = leading(tensors);
  if (lead == nullptr) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[1].toInt(), lead->dim());
  if (!same_sizes_but(tensors, dim)) {
    return false;
  }
  const SpecPtr& spec = spec_of(*lead);
  call.give_all(spec->is_split(dim) ? cat_split(tensors, dim, *lead, spec) : cat_unsplit(tensors, dim, *lead, spec));
  return true;
}

bool stack(Call& call) {
  const auto tensors = call[0].toTensorVector();
  const at::Tensor* lead = leading(tensors);
  if (lead == nullptr || !same_sizes_but(tensors, -1)) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[1].toInt(), lead->dim() + 1);
  const SpecPtr& spec = spec_of(*lead);
  std::vector<at::Tensor> pieces;
  for (const auto& tensor : tensors) {
    pieces.push_back(piece(tensor, spec));
  }
  std::vector<std::int64_t> to(spec->sizes.size());
  for (std::size_t d = 0; d < to.size(); ++d) {
    to[d] = static_cast<std::int64_t>(d) + (static_cast<std::int64_t>(d) >= dim ? 1 : 0);
  }
  auto sizes = spec->sizes;
  sizes.insert(sizes.begin() + dim, static_cast<std::int64_t>(tensors.size()));
  call.give_all(wrap(at::stack(pieces, dim), mapped_spec(*spec, to, sizes)));
  return true;
}

}  // namespace

Rules cat_rules() { return {{"aten::cat", &cat}, {"aten::stack", &stack}}; }

}  // namespace renga
