// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Slices, also across a split dim: each rank keeps what lies in its own block, so a slice aliases and
// moves nothing.
//
//     length 10 cut {0, 5, 10}, x[2:9:3] has elements 2 5 8  ->  cut {0, 1, 3}
namespace renga {
namespace {

struct Slice {
  std::int64_t dim = 0;
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t step = 1;
};

// How many elements of the slice lie before index `at`.
std::int64_t count_before(const Slice& slice, std::int64_t at) {
  const std::int64_t distance = std::max<std::int64_t>(at - slice.start, 0);
  return std::min(slice.length, (distance + slice.step - 1) / slice.step);
}

SpecPtr sliced_spec(const Spec& spec, const Slice& slice) {
  auto sizes = spec.sizes;
  sizes[at_index(slice.dim)] = slice.length;
  auto cuts = spec.cuts;
  for (auto& at : cuts[at_index(slice.dim)]) {
    at = count_before(slice, at);
  }
  return make_spec(spec.mesh, spec.placements, std::move(sizes), std::move(cuts));
}

at::Tensor sliced(const at::Tensor& self, const Slice& slice) {
  const SpecPtr spec = sliced_spec(*spec_of(self), slice);
  const Range own = spec_of(self)->own(slice.dim);
  const Range kept = spec->own(slice.dim);
  const std::int64_t first = kept.size() == 0 ? 0 : slice.start + kept.begin * slice.step - own.begin;
  const at::Tensor& local = local_tensor(self);
  const std::int64_t last = kept.size() == 0 ? 0 : first + (kept.size() - 1) * slice.step + 1;
  const at::Tensor view = local.slice(slice.dim, first, last, slice.step);
  auto strides = self.strides().vec();
  strides[at_index(slice.dim)] *= slice.step;
  const std::int64_t offset = self.storage_offset() + slice.start * self.stride(slice.dim);
  return wrap_view(self, view, spec, strides, offset);
}

std::int64_t clamp_index(std::int64_t index, std::int64_t length) {
  return std::clamp<std::int64_t>(index < 0 ? index + length : index, 0, length);
}

Slice read_slice(const at::Tensor& self, std::int64_t dim, const c10::IValue& start, const c10::IValue& end,
                 std::int64_t step) {
  const std::int64_t wrapped = at::maybe_wrap_dim(dim, self.dim());
  const std::int64_t length = self.size(wrapped);
  const std::int64_t from = clamp_index(start.isNone() ? 0 : start.toInt(), length);
  const std::int64_t past = end.isNone() ? length : end.toInt();
  const std::int64_t to =
      std::max(from, clamp_index(past == std::numeric_limits<std::int64_t>::max() ? length : past, length));
  return {wrapped, from, (to - from + step - 1) / step, step};
}

bool slice(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (self.dim() == 0 || call[4].toInt() <= 0) {
    return false;  // LibTorch's error
  }
  call.give_all(sliced(self, read_slice(self, call[1].toInt(), call[2], call[3], call[4].toInt())));
  return true;
}

// Consecutive slices of these lengths.
void give_parts(Call& call, std::int64_t dim, const std::vector<std::int64_t>& lengths) {
  const at::Tensor self = call.tensor(0);
  std::vector<at::Tensor> parts;
  std::int64_t start = 0;
  for (const auto length : lengths) {
    parts.push_back(sliced(self, {dim, start, length, 1}));
    start += length;
  }
  call.give_all(parts);
}

bool split(Call& call) {
  const at::Tensor self = call.tensor(0);
  const std::int64_t part = call[1].toInt();
  if (self.dim() == 0 || part <= 0) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[2].toInt(), self.dim());
  std::vector<std::int64_t> lengths;
  for (std::int64_t start = 0; start < self.size(dim) || lengths.empty(); start += part) {
    lengths.push_back(std::min(part, self.size(dim) - start));
  }
  give_parts(call, dim, lengths);
  return true;
}

bool split_with_sizes(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (self.dim() == 0) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[2].toInt(), self.dim());
  const auto lengths = call.ints(1);
  std::int64_t total = 0;
  for (const auto length : lengths) {
    if (length < 0) {
      return false;
    }
    total += length;
  }
  if (total != self.size(dim)) {
    return false;
  }
  give_parts(call, dim, lengths);
  return true;
}

at::Tensor selected(const at::Tensor& self, std::int64_t dim, std::int64_t index) {
  std::vector<std::int64_t> to(at_index(self.dim()));
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    to[at_index(d)] = d == dim ? -1 : d < dim ? d : d - 1;
  }
  auto sizes = self.sizes().vec();
  auto strides = self.strides().vec();
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  return wrap_view(self, local_tensor(self).select(dim, index), mapped_spec(*spec_of(self), to, sizes), strides,
                   self.storage_offset() + index * self.stride(dim));
}

bool select(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (self.dim() == 0) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[1].toInt(), self.dim());
  const auto index = call[2].toInt();
  if (spec_of(self)->is_split(dim) || index < -self.size(dim) || index >= self.size(dim)) {
    return false;
  }
  call.give_all(selected(self, dim, index < 0 ? index + self.size(dim) : index));
  return true;
}

bool unbind(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (self.dim() == 0) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[1].toInt(), self.dim());
  if (spec_of(self)->is_split(dim)) {
    return false;
  }
  std::vector<at::Tensor> parts;
  for (std::int64_t i = 0; i < self.size(dim); ++i) {
    parts.push_back(selected(self, dim, i));
  }
  call.give_all(parts);
  return true;
}

// The gradient of a slice: zeros, but for the slice. A dim that was split is cut evenly again.
bool slice_backward(Call& call) {
  const at::Tensor gradient = call.tensor(0);
  const auto sizes = call.ints(1);
  const auto dim = at::maybe_wrap_dim(call[2].toInt(), static_cast<std::int64_t>(sizes.size()));
  auto cuts = spec_of(gradient)->cuts;
  cuts[at_index(dim)].clear();
  const auto spec = make_spec(spec_of(gradient)->mesh, spec_of(gradient)->placements, sizes, cuts);
  const at::Tensor whole_gradient =
      wrap(at::zeros(spec->local_sizes(), local_tensor(gradient).options()), spec, gradient.strides());
  const Slice slice = read_slice(whole_gradient, dim, call[3], call[4], call[5].toInt());
  const at::Tensor target = sliced(whole_gradient, slice);
  state(target).local.copy_(piece(gradient, spec_of(target)));
  call.give_all(whole_gradient);
  return true;
}

bool select_backward(Call& call) {
  const at::Tensor gradient = call.tensor(0);
  const auto sizes = call.ints(1);
  const auto dim = at::maybe_wrap_dim(call[2].toInt(), static_cast<std::int64_t>(sizes.size()));
  std::vector<std::int64_t> to(at_index(gradient.dim()));
  for (std::int64_t d = 0; d < gradient.dim(); ++d) {
    to[at_index(d)] = d < dim ? d : d + 1;
  }
  const SpecPtr spec = mapped_spec(*spec_of(gradient), to, sizes);
  resolve(gradient);
  const at::Tensor out = at::zeros(spec->local_sizes(), local_tensor(gradient).options());
  out.select(dim, call[3].toInt()).copy_(local_tensor(gradient));
  call.give_all(wrap(out, spec));
  return true;
}

}  // namespace

Rules slice_rules() {
  return {
      {"aten::slice.Tensor", &slice},
      {"aten::split.Tensor", &split},
      {"aten::split_with_sizes", &split_with_sizes},
      {"aten::select.int", &select},
      {"aten::unbind.int", &unbind},
      {"aten::slice_backward", &slice_backward},
      {"aten::select_backward", &select_backward},
  };
}

}  // namespace renga
