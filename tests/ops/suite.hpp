// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "renga/mesh/device_mesh.hpp"

namespace renga::test {

/// One operator, or a short expression, and the inputs it is tried on.
struct SuiteCase {
  std::string name;
  std::vector<torch::Tensor> inputs;  ///< plain; floating ones get gradients
  std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor>&)> run;
  int double_backward = 0;  ///< 1: the gradient's gradient is compared, too
};

/// Every case of the suite, in float64 from a fixed seed.
std::vector<SuiteCase> suite_cases();

/// Runs the case in plain LibTorch and, under every placement of its inputs on the mesh, on distributed
/// tensors; compares outputs, gradients and, where asked, second gradients.
/// Returns what differs, one line each.
std::vector<std::string> check_case(const SuiteCase& suite_case, const DeviceMesh& mesh);

/// Largest |a - b| over largest |b|; infinity when sizes, dtypes or NaNs differ.
double difference(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace renga::test
