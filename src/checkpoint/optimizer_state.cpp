// SPDX-License-Identifier: Apache-2.0
#include "optimizer_state.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include <torch/torch.h>

#include "renga/core/error.hpp"

#include "src/parallel/optimizer_key.hpp"

namespace renga::detail {
namespace {

namespace optim = torch::optim;

// The names are those of PyTorch's state dictionaries.
template <typename AdamState>
StateFields adam_fields(AdamState& state) {
  return {{"step", &state.step()},
          {"exp_avg", &state.exp_avg()},
          {"exp_avg_sq", &state.exp_avg_sq()},
          {"max_exp_avg_sq", &state.max_exp_avg_sq(), Presence::Sometimes}};
}

StateFields fields_in(optim::AdamParamState& state) { return adam_fields(state); }
StateFields fields_in(optim::AdamWParamState& state) { return adam_fields(state); }
StateFields fields_in(optim::SGDParamState& state) { return {{"momentum_buffer", &state.momentum_buffer()}}; }
StateFields fields_in(optim::AdagradParamState& state) { return {{"step", &state.step()}, {"sum", &state.sum()}}; }
StateFields fields_in(optim::RMSpropParamState& state) {
  return {{"step", &state.step()},
          {"square_avg", &state.square_avg()},
          {"momentum_buffer", &state.momentum_buffer(), Presence::Sometimes},
          {"grad_avg", &state.grad_avg(), Presence::Sometimes}};
}

template <typename State>
OptimizerKind kind(const char* name) {
  return {name, []() -> ParamState { return std::make_unique<State>(); },
          [](optim::OptimizerParamState& state) { return fields_in(static_cast<State&>(state)); }};
}

template <typename Kind>
bool is(const optim::Optimizer& optimizer) {
  return dynamic_cast<const Kind*>(&optimizer) != nullptr;
}

using StateKey = std::decay_t<decltype(std::declval<optim::Optimizer>().state())>::key_type;

}  // namespace

const OptimizerKind& kind_of(const optim::Optimizer& optimizer) {
  using Test = bool (*)(const optim::Optimizer&);
  static const std::array<std::pair<Test, OptimizerKind>, 5> kinds{{
      {is<optim::Adam>, kind<optim::AdamParamState>("Adam")},
      {is<optim::AdamW>, kind<optim::AdamWParamState>("AdamW")},
      {is<optim::SGD>, kind<optim::SGDParamState>("SGD")},
      {is<optim::RMSprop>, kind<optim::RMSpropParamState>("RMSprop")},
      {is<optim::Adagrad>, kind<optim::AdagradParamState>("Adagrad")},
  }};
  for (const auto& [matches, found] : kinds) {
    if (matches(optimizer)) {
      return found;
    }
  }
  throw InvalidArgument(std::string("optimizer: expected Adam, AdamW, SGD, RMSprop or Adagrad, got ") +
                        (is<optim::LBFGS>(optimizer) ? "LBFGS, whose state belongs to no single parameter"
                                                     : "a class whose state is not known"));
}

std::vector<at::Tensor> parameters_of(const optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer.param_groups()) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  return all;
}

optim::OptimizerParamState* find_state(const optim::Optimizer& optimizer, const at::Tensor& parameter) {
  const auto found = optimizer.state().find(optimizer_key<StateKey>(parameter));
  return found == optimizer.state().end() ? nullptr : found->second.get();
}

void replace_state(optim::Optimizer& optimizer, const at::Tensor& parameter, ParamState state) {
  if (state) {
    optimizer.state()[optimizer_key<StateKey>(parameter)] = std::move(state);
  } else {
    optimizer.state().erase(optimizer_key<StateKey>(parameter));
  }
}

std::vector<double> learning_rates(const optim::Optimizer& optimizer) {
  std::vector<double> rates;
  for (const auto& group : optimizer.param_groups()) {
    rates.push_back(group.options().get_lr());
  }
  return rates;
}

void set_learning_rates(optim::Optimizer& optimizer, const std::vector<double>& rates) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    optimizer.param_groups()[i].options().set_lr(rates[i]);
  }
}

}  // namespace renga::detail
