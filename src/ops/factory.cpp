// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>

#include "renga/tensor/geometry.hpp"
#include "renga/tensor/random.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Tensors made from another tensor: same spec where the sizes are the same.
namespace renga {
namespace {

bool like(Call& call) {
  const at::Tensor self = call.tensor(0);
  torch::jit::Stack arguments = call.arguments();
  const auto order = requested_order(self, arguments.back());
  arguments[0] = state(self).local;  // its values do not matter, only its form does
  const at::Tensor made = wrap(call.run(std::move(arguments)).front().toTensor(), spec_of(self), order);
  if (call.info().base == "zeros_like") {
    state(made).memory->zero_epoch = state(made).memory->epoch;
  }
  call.give_all(made);
  return true;
}

bool random_like(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_split(self)) {
    return false;
  }
  const c10::IValue dtype = call[1];
  auto options = state(self).local.options();
  options = dtype.isNone() ? options : options.dtype(dtype.toScalarType());
  const at::Tensor made =
      wrap(at::empty_like(state(self).local, options), spec_of(self), requested_order(self, call[call.size() - 1]));
  if (call.info().base == "rand_like") {
    fill_uniform(made, random_key(), 0.0, 1.0);
  } else {
    fill_normal(made, random_key(), 0.0, 1.0);
  }
  call.give_all(made);
  return true;
}

// new_zeros(self, size, …) and its kin: of the same sizes, they are split like self.
bool new_of_size(Call& call) {
  const at::Tensor self = call.tensor(0);
  const auto sizes = call.ints(1);
  torch::jit::Stack arguments = call.arguments();
  const bool same = self.sizes() == at::IntArrayRef(sizes);
  const SpecPtr spec = same ? spec_of(self) : replicated_spec(spec_of(self)->mesh, sizes);
  arguments[0] = state(self).local;
  arguments[1] = spec->local_sizes();
  const at::Tensor made = wrap(call.run(std::move(arguments)).front().toTensor(), spec);
  if (call.info().base == "new_zeros") {
    state(made).memory->zero_epoch = state(made).memory->epoch;
  }
  call.give_all(made);
  return true;
}

// Strides speak of the whole tensor; the piece gets the same memory order.
bool new_strided(Call& call) {
  const at::Tensor self = call.tensor(0);
  const auto sizes = call.ints(1);
  const auto strides = call.ints(2);
  if (!is_split(self) || self.sizes() != at::IntArrayRef(sizes)) {
    return false;
  }
  auto options = state(self).local.options();
  options = call[3].isNone() ? options : options.dtype(call[3].toScalarType());
  const auto local_sizes = spec_of(self)->local_sizes();
  const at::Tensor local = at::empty_strided(local_sizes, ordered_strides(local_sizes, strides), options);
  call.give_all(wrap(local, spec_of(self), strides));
  return true;
}

}  // namespace

Rules factory_rules() {
  return {
      {"aten::zeros_like", &like},
      {"aten::ones_like", &like},
      {"aten::empty_like", &like},
      {"aten::full_like", &like},
      {"aten::rand_like", &random_like},
      {"aten::randn_like", &random_like},
      {"aten::new_zeros", &new_of_size},
      {"aten::new_ones", &new_of_size},
      {"aten::new_full", &new_of_size},
      {"aten::new_empty", &new_of_size},
      {"aten::new_empty_strided", &new_strided},
  };
}

}  // namespace renga
