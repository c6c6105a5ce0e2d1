// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Views that keep whole dims: permutations, new and dropped dims of size 1, expansion. The local view and
// the global geometry are computed side by side, so that autograd, which rebuilds gradients of views from
// strides, sees the strides of the whole tensor.
namespace renga {
namespace {

// The view whose dim d is dim `source[d]` of self; -1 stands for a new dim of size 1.
void give_dims(Call& call, const std::vector<std::int64_t>& source) {
  const at::Tensor self = call.tensor(0);
  const Spec& spec = *spec_of(self);
  std::vector<std::int64_t> to(at_index(self.dim()), -1);
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  const at::Tensor& local = local_tensor(self);
  std::vector<std::int64_t> local_sizes;
  std::vector<std::int64_t> local_strides;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const std::int64_t from = source[d];
    if (from >= 0) {
      to[at_index(from)] = static_cast<std::int64_t>(d);
    }
    sizes.push_back(from < 0 ? 1 : self.size(from));
    local_sizes.push_back(from < 0 ? 1 : local.size(from));
    // A new dim gets the stride unsqueeze gives it: size times stride of the dim it stands before.
    const std::int64_t next = from < 0 && d + 1 < source.size() ? source[d + 1] : -1;
    strides.push_back(from >= 0 ? self.stride(from) : next < 0 ? 1 : self.size(next) * self.stride(next));
    local_strides.push_back(from >= 0 ? local.stride(from) : next < 0 ? 1 : local.size(next) * local.stride(next));
  }
  const at::Tensor view = local.as_strided(local_sizes, local_strides, local.storage_offset());
  call.give_all(wrap_view(self, view, mapped_spec(spec, to, sizes), strides, self.storage_offset()));
}

std::vector<std::int64_t> identity(const at::Tensor& self) {
  std::vector<std::int64_t> dims(at_index(self.dim()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

bool transpose(Call& call) {
  const at::Tensor self = call.tensor(0);
  auto dims = identity(self);
  const auto a = at::maybe_wrap_dim(call[1].toInt(), self.dim());
  const auto b = at::maybe_wrap_dim(call[2].toInt(), self.dim());
  if (self.dim() > 0) {
    std::swap(dims[at_index(a)], dims[at_index(b)]);
  }
  give_dims(call, dims);
  return true;
}

bool matrix_transpose(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (self.dim() > 2) {
    return false;  // LibTorch's error
  }
  auto dims = identity(self);
  std::reverse(dims.begin(), dims.end());
  give_dims(call, dims);
  return true;
}

bool permute(Call& call) {
  const at::Tensor self = call.tensor(0);
  auto dims = call.ints(1);
  std::vector<bool> seen(at_index(self.dim()), false);
  if (static_cast<std::int64_t>(dims.size()) != self.dim()) {
    return false;
  }
  for (auto& dim : dims) {
    dim = at::maybe_wrap_dim(dim, self.dim());
    if (seen[at_index(dim)]) {
      return false;
    }
    seen[at_index(dim)] = true;
  }
  give_dims(call, dims);
  return true;
}

bool unsqueeze(Call& call) {
  const at::Tensor self = call.tensor(0);
  auto dims = identity(self);
  const auto at_dim = at::maybe_wrap_dim(call[1].toInt(), self.dim() + 1);
  dims.insert(dims.begin() + at_dim, -1);
  give_dims(call, dims);
  return true;
}

// Drops those of `candidates` that have size 1; a split one would leave its value on one rank only.
bool drop_dims(Call& call, const std::vector<std::int64_t>& candidates) {
  const at::Tensor self = call.tensor(0);
  std::vector<bool> dropped(at_index(self.dim()), false);
  for (const auto candidate : candidates) {
    if (self.dim() == 0) {
      continue;
    }
    const auto dim = at::maybe_wrap_dim(candidate, self.dim());
    if (self.size(dim) == 1) {
      if (spec_of(self)->is_split(dim)) {
        return false;
      }
      dropped[at_index(dim)] = true;
    }
  }
  std::vector<std::int64_t> dims;
  for (const auto dim : identity(self)) {
    if (!dropped[at_index(dim)]) {
      dims.push_back(dim);
    }
  }
  give_dims(call, dims);
  return true;
}

bool squeeze(Call& call) { return drop_dims(call, identity(call.tensor(0))); }

bool squeeze_dim(Call& call) { return drop_dims(call, {call[1].toInt()}); }

bool squeeze_dims(Call& call) { return drop_dims(call, call.ints(1)); }

bool expand(Call& call) {
  const at::Tensor self = call.tensor(0);
  auto sizes = call.ints(1);
  const std::int64_t shift = static_cast<std::int64_t>(sizes.size()) - self.dim();
  if (shift < 0) {
    return false;
  }
  const at::Tensor& local = local_tensor(self);
  std::vector<std::int64_t> strides(sizes.size(), 0);
  std::vector<std::int64_t> to(at_index(self.dim()));
  auto local_sizes = sizes;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    auto& size = sizes[at_index(d + shift)];
    size = size == -1 ? self.size(d) : size;
    const bool kept = size == self.size(d);
    if (!kept && (self.size(d) != 1 || spec_of(self)->is_split(d))) {
      return false;
    }
    to[at_index(d)] = d + shift;
    strides[at_index(d + shift)] = kept ? self.stride(d) : 0;
    local_sizes[at_index(d + shift)] = kept ? local.size(d) : size;
  }
  const SpecPtr spec = mapped_spec(*spec_of(self), to, sizes);
  call.give_all(wrap_view(self, local.expand(local_sizes), spec, strides, self.storage_offset()));
  return true;
}

}  // namespace

Rules view_rules() {
  return {
      {"aten::t", &matrix_transpose},        {"aten::transpose.int", &transpose}, {"aten::permute", &permute},
      {"aten::unsqueeze", &unsqueeze},       {"aten::squeeze", &squeeze},         {"aten::squeeze.dim", &squeeze_dim},
      {"aten::squeeze.dims", &squeeze_dims}, {"aten::expand", &expand},
  };
}

}  // namespace renga
