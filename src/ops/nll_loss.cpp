// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Negative log likelihood of samples [N, C] or pixels [N, C, H, W], classes whole on every rank. The mean
// divides by the weights of all ranks' targets, so ignored and weighted classes count right.
namespace renga {
namespace {

struct Plan {
  SpecPtr input;   // classes not split
  SpecPtr target;  // the same without the class dim
  AxisSet axes = 0;
};

bool make_plan(const at::Tensor& input, const at::Tensor& target, Plan& plan) {
  const bool fits = input.dim() >= 2 && target.dim() == input.dim() - 1;
  if (!fits || (!is_split(input) && !is_split(target))) {
    return false;
  }
  std::vector<std::int64_t> to(at_index(input.dim()));
  auto sizes = input.sizes().vec();
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    to[at_index(d)] = d == 0 ? 0 : d == 1 ? -1 : d - 1;
  }
  sizes.erase(sizes.begin() + 1);
  if (target.sizes() != at::IntArrayRef(sizes)) {
    return false;
  }
  if (is_split(input)) {
    const std::int64_t classes = 1;
    plan.input = without_dims(spec_of(input), {&classes, 1});
    plan.target = mapped_spec(*plan.input, to, sizes);
  } else {
    plan.target = spec_of(target);
    std::vector<std::int64_t> back(at_index(target.dim()));
    for (std::int64_t d = 0; d < target.dim(); ++d) {
      back[at_index(d)] = d == 0 ? 0 : d + 1;
    }
    plan.input = mapped_spec(*plan.target, back, input.sizes().vec());
  }
  for (std::int64_t d = 0; d < target.dim(); ++d) {
    plan.axes |= plan.target->axes_of(d);
  }
  return true;
}

bool forward(Call& call) {
  Plan plan;
  if (!make_plan(call.tensor(0), call.tensor(1), plan)) {
    return false;
  }
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = piece(call.tensor(0), plan.input);
  arguments[1] = piece(call.tensor(1), plan.target);
  arguments[2] = whole(call.tensor(2));
  const auto reduction = call[3].toInt();
  const SpecPtr scalar = replicated_spec(plan.input->mesh, {});
  if (reduction == at::Reduction::None) {
    const torch::jit::Stack results = call.run(std::move(arguments));
    const at::Tensor total = results[1].toTensor();
    call.give_all(wrap(results[0].toTensor(), plan.target),
                  wrap(total, replicated_spec(plan.input->mesh, total.sizes().vec())));
    return true;
  }
  arguments[3] = static_cast<std::int64_t>(at::Reduction::Sum);
  const torch::jit::Stack results = call.run(std::move(arguments));
  const at::Tensor total = results[1].toTensor().clone();
  plan.input->mesh.over(plan.axes).all_reduce(total);
  at::Tensor value = results[0].toTensor();
  value = reduction == at::Reduction::Mean ? value / total : value;
  call.give_all(wrap(value, scalar, {}, plan.axes), wrap(total, scalar));
  return true;
}

bool backward(Call& call) {
  Plan plan;
  if (!make_plan(call.tensor(1), call.tensor(2), plan)) {
    return false;
  }
  torch::jit::Stack arguments = call.arguments();
  const auto reduction = call[4].toInt();
  arguments[1] = piece(call.tensor(1), plan.input);
  arguments[2] = piece(call.tensor(2), plan.target);
  arguments[3] = whole(call.tensor(3));
  arguments[6] = whole(call.tensor(6));
  if (reduction == at::Reduction::None) {
    arguments[0] = piece(call.tensor(0), plan.target);
  } else {
    arguments[0] = whole(call.tensor(0));
    if (reduction == at::Reduction::Mean) {
      arguments[0] = arguments[0].toTensor() / arguments[6].toTensor();
      arguments[4] = static_cast<std::int64_t>(at::Reduction::Sum);
    }
  }
  const at::Tensor value = call.run(std::move(arguments)).front().toTensor();
  call.give_all(wrap(value, plan.input, call.tensor(1).strides()));
  return true;
}

}  // namespace

Rules nll_loss_rules() {
  return {
      {"aten::nll_loss_forward", &forward},
      {"aten::nll_loss_backward", &backward},
      {"aten::nll_loss2d_forward", &forward},
      {"aten::nll_loss2d_backward", &backward},
  };
}

}  // namespace renga
