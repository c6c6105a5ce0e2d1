// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/adam.hpp"

#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include "renga/core/text.hpp"
#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

#include "adam_loop.hpp"

namespace renga::optim {
namespace {

using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

constexpr std::int64_t kGrain = 1 << 15;  // elements worth a thread

// Keys of the state are the parameters' addresses, as text in older versions of LibTorch.
template <typename Key>
Key key_of(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<Key, std::string>) {
    return text(parameter.unsafeGetTensorImpl());
  } else {
    return static_cast<Key>(parameter.unsafeGetTensorImpl());
  }
}

template <typename States>
AdamParamState& state_of(States& states, const at::Tensor& parameter, const AdamOptions& options) {
  auto& entry = states[key_of<typename States::key_type>(parameter)];
  if (!entry) {
    auto fresh = std::make_unique<AdamParamState>();
    fresh->exp_avg(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    fresh->exp_avg_sq(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    if (options.amsgrad()) {
      fresh->max_exp_avg_sq(at::zeros_like(parameter, at::MemoryFormat::Preserve));
    }
    entry = std::move(fresh);
  }
  return static_cast<AdamParamState&>(*entry);
}

AdamFactors factors_of(const AdamOptions& options, std::int64_t step) {
  const auto [beta1, beta2] = options.betas();
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(step));
  return {beta1, beta2, std::sqrt(correction2), options.eps(), options.lr() / correction1, options.weight_decay()};
}

// LibTorch's sequence of operators.
void step_by_operators(const at::Tensor& parameter, AdamParamState& state, const AdamOptions& options,
                       const AdamFactors& f) {
  at::Tensor gradient = parameter.grad();
  if (f.weight_decay != 0) {
    gradient = gradient.add(parameter, f.weight_decay);
  }
  state.exp_avg().mul_(f.beta1).add_(gradient, 1 - f.beta1);
  state.exp_avg_sq().mul_(f.beta2).addcmul_(gradient, gradient, 1 - f.beta2);
  at::Tensor squares = state.exp_avg_sq();
  if (options.amsgrad()) {
    at::maximum_out(state.max_exp_avg_sq(), squares, state.max_exp_avg_sq());
    squares = state.max_exp_avg_sq();
  }
  const at::Tensor denominator = (squares.sqrt() / f.root_correction2).add_(f.epsilon);
  parameter.addcdiv_(state.exp_avg(), denominator, -f.step_size);
}

// The pieces of what a step reads and writes.
struct Pieces {
  at::Tensor parameter, gradient, mean, square;
};

// Whether element i of one piece belongs with element i in memory of the others.
bool is_aligned(const Pieces& p) {
  const auto like = [&](const at::Tensor& other) {
    return other.scalar_type() == p.parameter.scalar_type() && other.sizes() == p.parameter.sizes() &&
           other.strides() == p.parameter.strides() && other.layout() == at::kStrided;
  };
  const bool floating = p.parameter.scalar_type() == at::kFloat || p.parameter.scalar_type() == at::kDouble;
  return floating && p.parameter.device().is_cpu() && p.parameter.is_non_overlapping_and_dense() && like(p.gradient) &&
         like(p.mean) && like(p.square);
}

bool is_placed_alike(const at::Tensor& a, const at::Tensor& b) {
  return is_dtensor(a) == is_dtensor(b) && (!is_dtensor(a) || *state(a).spec == *state(b).spec);
}

// Decided by placements and memory order, which are the same on every rank.
bool step_in_one_pass(const at::Tensor& parameter, AdamParamState& adam, const AdamFactors& f) {
  const at::Tensor gradient = parameter.grad();
  for (const at::Tensor& other : {gradient, adam.exp_avg(), adam.exp_avg_sq()}) {
    if (!is_placed_alike(parameter, other)) {
      return false;
    }
    resolve(other);
  }
  resolve(parameter);
  const Pieces p{local_tensor(parameter), local_tensor(gradient), local_tensor(adam.exp_avg()),
                 local_tensor(adam.exp_avg_sq())};
  if (!is_aligned(p)) {
    return false;
  }
  AT_DISPATCH_FLOATING_TYPES(p.parameter.scalar_type(), "adam", [&] {
    auto* const value = p.parameter.data_ptr<scalar_t>();
    const auto* const slope = p.gradient.data_ptr<scalar_t>();
    auto* const mean = p.mean.data_ptr<scalar_t>();
    auto* const square = p.square.data_ptr<scalar_t>();
    at::parallel_for(0, p.parameter.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      adam_loop(value + begin, slope + begin, mean + begin, square + begin, end - begin, f);
    });
  });
  for (const at::Tensor& changed : {parameter, adam.exp_avg(), adam.exp_avg_sq()}) {
    written(changed);
    changed.unsafeGetTensorImpl()->bump_version();
  }
  return true;
}

}  // namespace

torch::Tensor Adam::step(LossClosure closure) {
  const at::NoGradGuard no_grad;
  torch::Tensor loss;
  if (closure != nullptr) {
    const at::AutoGradMode enable(true);
    loss = closure();
  }
  for (auto& group : param_groups()) {
    const auto& options = static_cast<const AdamOptions&>(group.options());
    for (auto& parameter : group.params()) {
      if (!parameter.grad().defined()) {
        continue;
      }
      TORCH_CHECK(!parameter.grad().is_sparse(), "Adam does not support sparse gradients");
      AdamParamState& adam = state_of(state(), parameter, options);
      adam.step(adam.step() + 1);
      const AdamFactors factors = factors_of(options, adam.step());
      if (options.amsgrad() || !step_in_one_pass(parameter, adam, factors)) {
        step_by_operators(parameter, adam, options, factors);
      }
    }
  }
  return loss;
}

}  // namespace renga::optim
