// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>

#include "renga/tensor/geometry.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Copies, conversions and fills.
namespace renga {
namespace {

// Overwriting all of a Partial value ends its being Partial; overwriting a part of it does not.
void prepare_overwrite(const at::Tensor& self) {
  settle(*state(self).memory);
  if (covers_memory(self)) {
    state(self).memory->partial = 0;
  } else {
    resolve(self);
  }
}

bool copy_into(Call& call) {
  const at::Tensor self = call.tensor(0);
  const at::Tensor source = call.tensor(1);
  if (!is_dtensor(self)) {
    return false;
  }
  const at::Tensor value =
      source.dim() == 0 ? whole(source) : piece(source, operand_spec(spec_of(self), source.sizes()));
  prepare_overwrite(self);
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = local_tensor(self);
  arguments[1] = value;
  call.run(std::move(arguments));
  written(self);
  call.give_all(self);
  return true;
}

bool zero_in_place(Call& call) {
  const at::Tensor self = call.tensor(0);
  prepare_overwrite(self);
  local_tensor(self).zero_();
  written(self);
  if (covers_memory(self)) {
    state(self).memory->zero_epoch = state(self).memory->epoch;
  }
  call.give_all(self);
  return true;
}

bool fill_in_place(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_dtensor(self)) {
    return false;
  }
  torch::jit::Stack arguments = call.arguments();
  if (call[1].isTensor()) {
    arguments[1] = whole(call.tensor(1));
  }
  prepare_overwrite(self);
  arguments[0] = local_tensor(self);
  call.run(std::move(arguments));
  written(self);
  call.give_all(self);
  return true;
}

// clone, _to_copy: memory format is the last argument.
bool copy_out(Call& call) {
  const at::Tensor self = call.tensor(0);
  torch::jit::Stack arguments = call.arguments();
  const auto order = requested_order(self, arguments.back());
  AxisSet partial = partial_axes(self);
  arguments[0] = local_tensor(self);
  at::Tensor value = call.run(arguments).front().toTensor();
  if (partial != 0 && !at::isFloatingType(value.scalar_type()) && value.scalar_type() != self.scalar_type()) {
    resolve(self);  // rounding to integers is not linear
    partial = 0;
    arguments[0] = local_tensor(self);
    value = call.run(std::move(arguments)).front().toTensor();
  }
  call.give_all(wrap(value, spec_of(self), order, partial));
  return true;
}

bool same_object(Call& call) {
  const at::Tensor self = call.tensor(0);
  call.give_all(wrap_state(self));
  return true;
}

}  // namespace

Rules copy_rules() {
  return {
      {"aten::alias", &same_object},
      {"aten::detach", &same_object},
      {"aten::lift", &same_object},
      {"aten::lift_fresh", &same_object},
      {"aten::copy_", &copy_into},
      {"aten::zero_", &zero_in_place},
      {"aten::fill_.Scalar", &fill_in_place},
      {"aten::fill_.Tensor", &fill_in_place},
      {"aten::clone", &copy_out},
      {"aten::_to_copy", &copy_out},
  };
}

}  // namespace renga
