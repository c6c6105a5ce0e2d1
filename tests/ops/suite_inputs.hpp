// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "suite.hpp"

// What the lists of cases are written with.
namespace renga::test {

namespace F = torch::nn::functional;
using torch::Tensor;
using Tensors = std::vector<Tensor>;

inline Tensor real(torch::IntArrayRef sizes) { return torch::randn(sizes, torch::kDouble).set_requires_grad(true); }

inline Tensor positive(torch::IntArrayRef sizes) {
  return (torch::rand(sizes, torch::kDouble) + 0.3).set_requires_grad(true);
}

inline Tensor classes(torch::IntArrayRef sizes, std::int64_t count) {
  return torch::randint(count, sizes, torch::kLong);
}

class Suite {
 public:
  void add(std::string name, Tensors inputs, std::function<Tensors(const Tensors&)> run) {
    cases.push_back({std::move(name), std::move(inputs), std::move(run)});
  }
  void twice(std::string name, Tensors inputs, std::function<Tensors(const Tensors&)> run) {
    cases.push_back({std::move(name), std::move(inputs), std::move(run), 1});
  }
  std::vector<SuiteCase> cases;
};

void add_pointwise(Suite& suite);
void add_views(Suite& suite);
void add_reductions(Suite& suite);
void add_products(Suite& suite);
void add_convolutions(Suite& suite);
void add_samples(Suite& suite);
void add_batch_norm(Suite& suite);
void add_losses(Suite& suite);
void add_gathered(Suite& suite);

}  // namespace renga::test
