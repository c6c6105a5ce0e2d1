// SPDX-License-Identifier: Apache-2.0
#include "suite.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "renga/core/text.hpp"
#include "renga/ops/ops.hpp"
#include "renga/tensor/distributed.hpp"

namespace renga::test {
namespace {

using torch::Tensor;

struct Results {
  std::vector<Tensor> outputs;
  std::vector<Tensor> gradients;
  std::vector<Tensor> second;
};

// A fixed weighting makes every output element matter to the gradients.
Tensor weights_like(const Tensor& output) {
  const auto count = output.numel();
  return torch::linspace(-1.0, 1.3, std::max<std::int64_t>(count, 1), torch::kDouble)
      .slice(0, 0, count)
      .view(output.sizes());
}

Tensor weighted_sum(const std::vector<Tensor>& outputs) {
  Tensor total;
  for (const auto& output : outputs) {
    if (output.is_floating_point() && output.requires_grad()) {
      const Tensor term = (output * weights_like(output)).sum();
      total = total.defined() ? total + term : term;
    }
  }
  return total;
}

Results run(const SuiteCase& suite_case, const std::vector<Tensor>& inputs) {
  Results results;
  results.outputs = suite_case.run(inputs);
  std::vector<Tensor> leaves;
  for (const auto& input : inputs) {
    if (input.requires_grad()) {
      leaves.push_back(input);
    }
  }
  const Tensor loss = weighted_sum(results.outputs);
  if (leaves.empty() || !loss.defined()) {
    return results;
  }
  const bool twice = suite_case.double_backward != 0;
  results.gradients = torch::autograd::grad({loss}, leaves, {}, twice, twice, true);
  if (twice) {
    const Tensor penalty = weighted_sum(results.gradients);
    if (penalty.defined()) {
      results.second = torch::autograd::grad({penalty}, leaves, {}, false, false, true);
    }
  }
  return results;
}

// All ways to place one tensor: each axis replicates or cuts one dim.
std::vector<Placements> all_placements(const Tensor& tensor, int axes) {
  std::vector<Placements> all{{}};
  for (int axis = 0; axis < axes; ++axis) {
    std::vector<Placements> longer;
    for (const auto& start : all) {
      for (std::int64_t dim = -1; dim < tensor.dim(); ++dim) {
        longer.push_back(start);
        longer.back().push_back(dim < 0 ? Replicate() : Shard(dim));
      }
    }
    all = longer;
  }
  return all;
}

void compare(const std::string& where, const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
             std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Tensor a = i < actual.size() && actual[i].defined() ? full(actual[i]) : Tensor();
    const bool both = a.defined() && expected[i].defined();
    const double error = both ? difference(a, expected[i]) : a.defined() == expected[i].defined() ? 0.0 : INFINITY;
    if (!(error <= 1e-10)) {
      lines.push_back(text(where, " ", i, ": differs by ", error));
    }
  }
}

std::string label(const std::vector<Placements>& chosen) {
  std::string out;
  for (const auto& placements : chosen) {
    out += " " + placements_text(placements);
  }
  return out;
}

void check_placements(const SuiteCase& suite_case, const DeviceMesh& mesh, const std::vector<Placements>& chosen,
                      const Results& expected, std::vector<std::string>& lines) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    inputs.push_back(shard(suite_case.inputs[i], mesh, chosen[i]));
  }
  const std::string where = suite_case.name + label(chosen);
  try {
    const Results actual = run(suite_case, inputs);
    compare(where + " output", actual.outputs, expected.outputs, lines);
    compare(where + " gradient", actual.gradients, expected.gradients, lines);
    compare(where + " second gradient", actual.second, expected.second, lines);
  } catch (const c10::Error& error) {
    lines.push_back(where + ": " + error.what_without_backtrace());
    std::fprintf(stderr, "%s\n", lines.back().c_str());  // other ranks may wait for this one from now on
  } catch (const std::exception& error) {
    lines.push_back(where + ": " + error.what());
    std::fprintf(stderr, "%s\n", lines.back().c_str());
  }
}

}  // namespace

double difference(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    return std::numeric_limits<double>::infinity();
  }
  if (a.numel() == 0) {
    return 0;
  }
  const Tensor x = a.detach().to(torch::kDouble);
  const Tensor y = b.detach().to(torch::kDouble);
  if (!torch::equal(x.isnan(), y.isnan()) || !torch::equal(x.isinf(), y.isinf())) {
    return std::numeric_limits<double>::infinity();
  }
  const double error = torch::nan_to_num(x - y, 0, 0, 0).abs().max().item<double>();
  const double scale = torch::nan_to_num(y, 0, 0, 0).abs().max().item<double>();
  return error == 0 ? 0 : scale == 0 ? error : error / scale;
}

std::vector<std::string> check_case(const SuiteCase& suite_case, const DeviceMesh& mesh) {
  std::vector<std::string> lines;
  const Results expected = run(suite_case, suite_case.inputs);
  const int axes = mesh.axis_count();
  // Each input is placed every way while the others replicate, then all that can are placed alike.
  for (std::size_t i = 0; i < suite_case.inputs.size(); ++i) {
    for (const auto& placements : all_placements(suite_case.inputs[i], axes)) {
      std::vector<Placements> chosen(suite_case.inputs.size(), Placements(static_cast<std::size_t>(axes)));
      chosen[i] = placements;
      check_placements(suite_case, mesh, chosen, expected, lines);
    }
  }
  if (suite_case.inputs.size() > 1) {
    for (const auto& placements : all_placements(suite_case.inputs[0], axes)) {
      std::vector<Placements> chosen;
      for (const auto& input : suite_case.inputs) {
        Placements fitting = placements;
        for (auto& placement : fitting) {
          placement = placement.dim() < input.dim() ? placement : Replicate();
        }
        chosen.push_back(fitting);
      }
      check_placements(suite_case, mesh, chosen, expected, lines);
    }
  }
  return lines;
}

}  // namespace renga::test
