// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/Functions.h>

#include "renga/core/error.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// as_strided speaks of the memory the whole tensor would have. Applied to a piece, or to a gathered tensor
// of other strides, it would read foreign memory.
namespace renga {
namespace {

struct Geometry {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
};

Geometry geometry_of(const at::Tensor& tensor) {
  return {tensor.sizes().vec(), tensor.strides().vec(), tensor.storage_offset()};
}

// Puts a whole value into memory laid out exactly as its tensor claims to be.
at::Tensor laid_out(const at::Tensor& value, const Geometry& claimed) {
  std::int64_t length = claimed.offset + 1;
  for (std::size_t d = 0; d < claimed.sizes.size(); ++d) {
    length += std::max<std::int64_t>(claimed.sizes[d] - 1, 0) * claimed.strides[d];
  }
  const at::Tensor memory = at::zeros({length}, value.options());
  memory.as_strided(claimed.sizes, claimed.strides, claimed.offset).copy_(value);
  return memory;
}

at::Tensor strided(const at::Tensor& memory, const Geometry& view) {
  return memory.as_strided(view.sizes, view.strides, view.offset);
}

// The same elements under other strides of dims of size 1, as pooling to 1x1 asks for.
bool is_restrided(const at::Tensor& self, const Geometry& view) {
  if (self.sizes() != at::IntArrayRef(view.sizes) || view.offset != self.storage_offset()) {
    return false;
  }
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] != 1 && view.strides[d] != self.strides()[d]) {
      return false;
    }
  }
  return true;
}

Geometry wanted(const Call& call) {
  return {call.ints(1), call.ints(2), call[3].isNone() ? call.tensor(0).storage_offset() : call[3].toInt()};
}

bool as_strided(Call& call) {
  const at::Tensor self = call.tensor(0);
  const Geometry view = wanted(call);
  if (is_restrided(self, view)) {
    call.give_all(wrap_view(self, local_tensor(self), spec_of(self), view.strides, self.storage_offset()));
    return true;
  }
  if (!is_split(self)) {
    return false;  // a true alias: the local geometry is the global one
  }
  const Geometry claimed = geometry_of(self);
  const at::Tensor value = strided(laid_out(whole(self), claimed), view).clone();
  const at::Tensor copy = wrap(value, replicated_spec(spec_of(self)->mesh, view.sizes));
  impl(copy).set_geometry(view.sizes, view.strides, view.offset);
  Source source;
  source.base = wrap_state(self);
  source.seen = state(self).memory->epoch;
  source.replay = [claimed, view](const at::Tensor& base) { return strided(laid_out(base, claimed), view); };
  source.write_back = [claimed, view](const at::Tensor& base, const at::Tensor& written_value) {
    const at::Tensor memory = laid_out(base, claimed);
    strided(memory, view).copy_(written_value);
    base.copy_(strided(memory, claimed));
  };
  state(copy).memory->source = std::move(source);
  call.give_all(copy);
  return true;
}

bool as_strided_in_place(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_split(self)) {
    return false;
  }
  if (!is_restrided(self, wanted(call))) {
    throw NotAvailable("as_strided_: not supported on a split tensor; use as_strided");
  }
  impl(self).set_geometry(self.sizes(), call.ints(2), self.storage_offset());
  call.give_all(self);
  return true;
}

}  // namespace

Rules as_strided_rules() { return {{"aten::as_strided", &as_strided}, {"aten::as_strided_", &as_strided_in_place}}; }

}  // namespace renga
