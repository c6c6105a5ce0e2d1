// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Losses that compare element by element: loss(input, target, [weight], reduction, …). Their sum over
// pieces is a Partial sum; the mean divides it by the global count, so uneven pieces weigh right.
namespace renga {
namespace {

std::vector<at::Tensor> tensors_of(const Call& call, std::size_t first, std::size_t last) {
  std::vector<at::Tensor> tensors;
  for (std::size_t i = first; i < last; ++i) {
    if (call.tensor(i).defined()) {
      tensors.push_back(call.tensor(i));
    }
  }
  return tensors;
}

std::vector<std::int64_t> broadcast_sizes(const std::vector<at::Tensor>& tensors) {
  std::vector<std::int64_t> sizes;
  for (const auto& tensor : tensors) {
    sizes = at::infer_size(sizes, tensor.sizes());
  }
  return sizes;
}

bool any_split(const std::vector<at::Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& t) { return is_split(t); });
}

void take_pieces(const Call& call, std::size_t first, std::size_t last, const SpecPtr& target,
                 torch::jit::Stack& arguments) {
  for (std::size_t i = first; i < last; ++i) {
    const at::Tensor tensor = call.tensor(i);
    if (tensor.defined()) {
      arguments[i] = piece(tensor, operand_spec(target, tensor.sizes()));
    }
  }
}

AxisSet split_axes(const Spec& spec) {
  AxisSet axes = 0;
  for (std::size_t i = 0; i < spec.placements.size(); ++i) {
    axes |= spec.placements[i].is_shard() ? AxisSet{1} << i : 0;
  }
  return axes;
}

template <std::size_t ReductionArgument>
bool loss(Call& call) {
  const auto tensors = tensors_of(call, 0, ReductionArgument);
  if (!any_split(tensors)) {
    return false;
  }
  const auto sizes = broadcast_sizes(tensors);
  const SpecPtr target = broadcast_spec(tensors, sizes);
  torch::jit::Stack arguments = call.arguments();
  take_pieces(call, 0, ReductionArgument, target, arguments);
  const auto reduction = call[ReductionArgument].toInt();
  if (reduction == at::Reduction::None) {
    call.give_all(wrap(call.run(std::move(arguments)).front().toTensor(), target, tensors.front().strides()));
    return true;
  }
  arguments[ReductionArgument] = static_cast<std::int64_t>(at::Reduction::Sum);
  at::Tensor value = call.run(std::move(arguments)).front().toTensor();
  if (reduction == at::Reduction::Mean) {
    value = value / static_cast<double>(target->numel());
  }
  call.give_all(wrap(value, replicated_spec(target->mesh, {}), {}, split_axes(*target)));
  return true;
}

// loss_backward(grad_output, input, target, [weight], reduction, …)
template <std::size_t ReductionArgument>
bool loss_backward(Call& call) {
  const at::Tensor gradient = call.tensor(0);
  const auto tensors = tensors_of(call, 1, ReductionArgument);
  if (!any_split(tensors)) {
    return false;
  }
  const SpecPtr target = broadcast_spec(tensors, broadcast_sizes(tensors));
  torch::jit::Stack arguments = call.arguments();
  take_pieces(call, 1, ReductionArgument, target, arguments);
  const auto reduction = call[ReductionArgument].toInt();
  if (reduction == at::Reduction::None) {
    arguments[0] = piece(gradient, operand_spec(target, gradient.sizes()));
  } else {
    arguments[0] = whole(gradient);
    if (reduction == at::Reduction::Mean) {
      arguments[0] = arguments[0].toTensor() / static_cast<double>(target->numel());
      arguments[ReductionArgument] = static_cast<std::int64_t>(at::Reduction::Sum);
    }
  }
  call.give_all(wrap(call.run(std::move(arguments)).front().toTensor(), target, tensors.front().strides()));
  return true;
}

}  // namespace

Rules loss_rules() {
  return {
      {"aten::mse_loss", &loss<2>},
      {"aten::l1_loss", &loss<2>},
      {"aten::smooth_l1_loss", &loss<2>},
      {"aten::huber_loss", &loss<2>},
      {"aten::soft_margin_loss", &loss<2>},
      {"aten::binary_cross_entropy", &loss<3>},
      {"aten::binary_cross_entropy_with_logits", &loss<4>},
      {"aten::mse_loss_backward", &loss_backward<3>},
      {"aten::l1_loss_backward", &loss_backward<3>},
      {"aten::smooth_l1_loss_backward", &loss_backward<3>},
      {"aten::huber_loss_backward", &loss_backward<3>},
      {"aten::soft_margin_loss_backward", &loss_backward<3>},
      {"aten::binary_cross_entropy_backward", &loss_backward<4>},
  };
}

}  // namespace renga
