// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::optim {
class Optimizer;
class OptimizerParamState;
}  // namespace torch::optim

namespace renga::detail {

enum class Presence : std::uint8_t { Always, Sometimes };

/// One value that an optimizer remembers for a parameter, in place.
struct StateField {
  const char* name;
  std::variant<at::Tensor*, std::int64_t*> value;
  Presence presence = Presence::Always;
};
using StateFields = std::vector<StateField>;
using ParamState = std::unique_ptr<torch::optim::OptimizerParamState>;

/// How a kind of optimizer keeps its state: LibTorch has a class for each, and no common way to its members.
struct OptimizerKind {
  const char* name;
  ParamState (*make)();
  StateFields (*fields)(torch::optim::OptimizerParamState&);
};

/// @throws InvalidArgument for those without state by parameter (LBFGS) and unknown ones
const OptimizerKind& kind_of(const torch::optim::Optimizer& optimizer);

/// All parameters, group by group.
std::vector<at::Tensor> parameters_of(const torch::optim::Optimizer& optimizer);

/// A parameter's state; null if there is none.
torch::optim::OptimizerParamState* find_state(const torch::optim::Optimizer& optimizer, const at::Tensor& parameter);

/// Null takes the state away.
void replace_state(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, ParamState state);

std::vector<double> learning_rates(const torch::optim::Optimizer& optimizer);
void set_learning_rates(torch::optim::Optimizer& optimizer, const std::vector<double>& rates);

}  // namespace renga::detail
