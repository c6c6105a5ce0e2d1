// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/adam.hpp"

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

#include "adam_loop.hpp"
#include "optimizer_key.hpp"

namespace renga::optim {
namespace {

using torch::optim::AdamOptions;
using torch::optim::AdamParamState;

constexpr std::int64_t kGrain = 1 << 15;  // elements worth a thread

// What LibTorch's first step has made; null before.
AdamParamState* find_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter) {
  using Key = std::decay_t<decltype(optimizer.state())>::key_type;
  const auto found = optimizer.state().find(detail::optimizer_key<Key>(parameter));
  return found == optimizer.state().end() ? nullptr : static_cast<AdamParamState*>(found->second.get());
}

// Gradients that are out of LibTorch's sight while it steps on the other parameters.
class Aside {
 public:
  Aside() = default;
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() {
    for (auto& [parameter, gradient] : entries_) {
      parameter.mutable_grad() = gradient;
    }
  }
  void put(const at::Tensor& parameter) {
    entries_.emplace_back(parameter, parameter.grad());
    entries_.back().first.mutable_grad() = at::Tensor();
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> entries_;
};

AdamFactors factors_of(const AdamOptions& options, std::int64_t step) {
  const auto [beta1, beta2] = options.betas();
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(step));
  return {beta1, beta2, std::sqrt(correction2), options.eps(), options.lr() / correction1, options.weight_decay()};
}

// The pieces of what a step reads and writes.
struct Pieces {
  at::Tensor parameter, gradient, mean, square;
};

// Whether element i of one piece belongs with element i in memory of the others.
bool is_aligned(const Pieces& p) {
  const auto like = [&](const at::Tensor& other) {
    return other.layout() == at::kStrided && other.scalar_type() == p.parameter.scalar_type() &&
           other.sizes() == p.parameter.sizes() && other.strides() == p.parameter.strides();
  };
  const bool floating = p.parameter.scalar_type() == at::kFloat || p.parameter.scalar_type() == at::kDouble;
  return floating && p.parameter.device().is_cpu() && p.parameter.is_non_overlapping_and_dense() && like(p.gradient) &&
         like(p.mean) && like(p.square);
}

bool is_placed_alike(const at::Tensor& a, const at::Tensor& b) {
  return is_dtensor(a) == is_dtensor(b) && (!is_dtensor(a) || *state(a).spec == *state(b).spec);
}

// Decided by placements and memory order, which are the same on every rank.
bool step_in_one_pass(const at::Tensor& parameter, AdamParamState& adam, const AdamOptions& options) {
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
  adam.step(adam.step() + 1);
  const AdamFactors factors = factors_of(options, adam.step());
  AT_DISPATCH_FLOATING_TYPES(p.parameter.scalar_type(), "adam", [&] {
    auto* const value = p.parameter.data_ptr<scalar_t>();
    const auto* const slope = p.gradient.data_ptr<scalar_t>();
    auto* const mean = p.mean.data_ptr<scalar_t>();
    auto* const square = p.square.data_ptr<scalar_t>();
    at::parallel_for(0, p.parameter.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      adam_loop(value + begin, slope + begin, mean + begin, square + begin, end - begin, factors);
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
  Aside done;
  for (auto& group : param_groups()) {
    const auto& options = static_cast<const AdamOptions&>(group.options());
    for (const auto& parameter : group.params()) {
      AdamParamState* const state = parameter.grad().defined() ? find_state(*this, parameter) : nullptr;
      if (state != nullptr && !options.amsgrad() && step_in_one_pass(parameter, *state, options)) {
        done.put(parameter);
      }
    }
  }
  torch::optim::Adam::step();  // the others, and first steps
  return loss;
}

}  // namespace renga::optim
