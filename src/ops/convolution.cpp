// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "contraction.hpp"
#include "rules.hpp"

// Convolution split by batch or by channel: a contraction of the input [N, C, …] with the weight
// [F, C, …] ([C, F, …] when transposed) over C. Split in space it is gathered, as yet.
namespace renga {
namespace {

// Places of the arguments after input, weight and bias (sizes in backward).
struct Window {
  std::vector<std::int64_t> stride, padding, dilation, output_padding;
  bool transposed = false;
  std::int64_t groups = 1;
};

Window read_window(const Call& call) {
  std::size_t first = 3;
  if (call.info().base == "convolution_backward") {
    first = 4;
  }
  return {call.ints(first),     call.ints(first + 1),     call.ints(first + 2),
          call.ints(first + 4), call[first + 3].toBool(), call[first + 5].toInt()};
}

std::int64_t entry(const std::vector<std::int64_t>& values, std::size_t i) {
  return values.size() == 1 ? values.front() : values.at(i);
}

std::vector<std::int64_t> output_sizes(const at::Tensor& input, const at::Tensor& weight, const Window& window) {
  std::vector<std::int64_t> sizes{input.size(0), window.transposed ? weight.size(1) * window.groups : weight.size(0)};
  for (std::int64_t d = 2; d < input.dim(); ++d) {
    const auto i = at_index(d - 2);
    const std::int64_t extent = entry(window.dilation, i) * (weight.size(d) - 1) + 1;
    const std::int64_t padding = 2 * entry(window.padding, i);
    const std::int64_t stride = entry(window.stride, i);
    sizes.push_back(window.transposed
                        ? (input.size(d) - 1) * stride - padding + extent + entry(window.output_padding, i)
                        : (input.size(d) + padding - extent) / stride + 1);
  }
  return sizes;
}

bool is_split_beyond(const at::Tensor& tensor, std::int64_t first_dim) {
  if (is_split(tensor)) {
    for (std::int64_t d = first_dim; d < tensor.dim(); ++d) {
      if (spec_of(tensor)->is_split(d)) {
        return true;
      }
    }
  }
  return false;
}

// Whether the contraction covers these splits and shapes; LibTorch reports wrong shapes.
bool applies(const at::Tensor& input, const at::Tensor& weight, const Window& window) {
  const bool grouped = window.groups != 1;
  return (is_split(input) || is_split(weight)) && input.dim() == weight.dim() && input.dim() >= 3 &&
         !is_split_beyond(input, grouped ? 1 : 2) && !is_split_beyond(weight, grouped ? 0 : 2) &&
         input.size(1) == (window.transposed ? weight.size(0) : weight.size(1) * window.groups);
}

std::vector<ContractedIndex> indices_of(const Window& window) {
  const std::int64_t from = window.transposed ? 0 : 1;
  if (window.groups != 1) {
    return {{0, -1, 0}};
  }
  return {{0, -1, 0}, {1, from, -1}, {-1, 1 - from, 1}};
}

std::vector<std::int64_t> result_order(const at::Tensor& input, const at::Tensor& weight) {
  auto order = window_order(input);
  return order.empty() ? image_order(weight) : order;
}

SpecPtr channel_spec(const SpecPtr& image) {
  std::vector<std::int64_t> to(image->sizes.size(), -1);
  to[1] = 0;
  return mapped_spec(*image, to, {image->sizes[1]});
}

bool convolution(Call& call) {
  const at::Tensor input = call.tensor(0);
  const at::Tensor weight = call.tensor(1);
  const at::Tensor bias = call.tensor(2);
  const Window window = read_window(call);
  warn_if_replicated(is_dtensor(input) ? input : weight);
  if (!applies(input, weight, window)) {
    return false;
  }
  const auto sizes = output_sizes(input, weight, window);
  if (std::any_of(sizes.begin() + 2, sizes.end(), [](std::int64_t size) { return size <= 0; })) {
    return false;
  }
  const Contraction plan = plan_contraction(input, weight, indices_of(window), sizes);
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = in_window_order(piece(input, plan.left));
  arguments[1] = piece(weight, plan.right);
  if (bias.defined()) {
    const at::Tensor own = piece(bias, channel_spec(plan.result));
    arguments[2] = is_first(plan.result->mesh, plan.partial) ? own : at::zeros_like(own);
  }
  const at::Tensor local_input = arguments[0].toTensor();
  const auto local_sizes = plan.result->local_sizes();
  const bool empty = local_input.numel() == 0 || arguments[1].toTensor().numel() == 0;
  // LibTorch's kernels do not all take empty pieces; what such a piece yields is zero or nothing.
  const at::Tensor value =
      empty ? at::zeros(local_sizes, local_input.options()) : call.run(std::move(arguments)).front().toTensor();
  call.give_all(wrap(value, plan.result, result_order(input, weight), plan.partial));
  return true;
}

struct BackwardPieces {
  at::Tensor input, weight, bias;
};

BackwardPieces run_backward(const Call& call, const at::Tensor& gradient, const at::Tensor& input,
                            const at::Tensor& weight, std::int64_t outputs) {
  const auto mask = call[10].toBoolList();
  if (gradient.numel() == 0 || input.numel() == 0 || weight.numel() == 0) {
    auto dims = at::IntArrayRef({0, 2, 3, 4}).slice(0, at_index(gradient.dim() - 1)).vec();
    return {at::zeros_like(input), at::zeros_like(weight), gradient.sum(dims)};
  }
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = gradient;
  arguments[1] = input;
  arguments[2] = weight;
  if (mask[2]) {
    arguments[3] = std::vector<std::int64_t>{outputs};
  }
  const torch::jit::Stack results = call.run(std::move(arguments));
  return {results[0].toTensor(), results[1].toTensor(), results[2].toTensor()};
}

bool convolution_backward(Call& call) {
  const at::Tensor gradient = call.tensor(0);
  const at::Tensor input = call.tensor(1);
  const at::Tensor weight = call.tensor(2);
  const Window window = read_window(call);
  if (!applies(input, weight, window)) {
    return false;
  }
  const Contraction plan = plan_contraction(input, weight, indices_of(window), gradient.sizes().vec());
  const SpecPtr channels = channel_spec(plan.result);
  const auto mask = call[10].toBoolList();
  const BackwardPieces pieces =
      run_backward(call, in_window_order(piece(gradient, plan.result)), in_window_order(piece(input, plan.left)),
                   piece(weight, plan.right), channels->local_sizes()[0]);
  // What an operand's gradient is summed over: indices that split the result but not this operand.
  const auto missing = [&](const SpecPtr& operand) {
    AxisSet axes = 0;
    for (std::size_t axis = 0; axis < plan.result->placements.size(); ++axis) {
      const bool split = plan.result->placements[axis].is_shard();
      axes |= split && !operand->placements[axis].is_shard() ? AxisSet{1} << axis : 0;
    }
    return axes;
  };
  const auto order = result_order(input, weight);
  torch::jit::Stack results(3);
  results[0] = mask[0] ? wrap(pieces.input, plan.left, order, missing(plan.left)) : at::Tensor();
  results[1] = mask[1] ? wrap(pieces.weight, plan.right, image_order(weight), missing(plan.right)) : at::Tensor();
  results[2] = mask[2] ? wrap(pieces.bias, channels, {}, missing(channels)) : at::Tensor();
  call.give(std::move(results));
  return true;
}

}  // namespace

Rules convolution_rules() {
  return {
      {"aten::convolution", &convolution},
      {"aten::convolution_backward", &convolution_backward},
  };
}

}  // namespace renga
