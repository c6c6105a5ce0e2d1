// SPDX-License-Identifier: Apache-2.0
// What an operator costs beside what it computes: on tensors of a few elements, in plain LibTorch and on
// distributed ones, in turn. One process: build/benchmarks/operator_cost
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "renga/comm/environment.hpp"
#include "renga/ops/ops.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/train/step_timer.hpp"

namespace {

constexpr int kCalls = 2000;
constexpr int kRounds = 31;

using Operation = std::function<void(std::vector<torch::Tensor>&)>;

double nanoseconds(const Operation& operation, std::vector<torch::Tensor>& tensors) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) {
    operation(tensors);
  }
  return 1e9 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kCalls;
}

void compare(const std::string& name, std::vector<torch::Tensor> plain, std::vector<torch::Tensor> split,
             const Operation& operation) {
  std::vector<double> without;
  std::vector<double> with;
  std::vector<double> more;
  for (int round = 0; round < kRounds; ++round) {
    without.push_back(nanoseconds(operation, plain));
    with.push_back(nanoseconds(operation, split));
    more.push_back(with.back() - without.back());
  }
  std::printf("%-28s %8.0f %8.0f %8.0f\n", name.c_str(), renga::train::median(without), renga::train::median(with),
              renga::train::median(more));
}

void run(renga::Environment& environment) {
  const renga::DeviceMesh mesh(environment.world(), {{"data", environment.world().size()}});
  const torch::NoGradGuard no_grad;
  const auto rows = renga::placements_of(mesh, {{"data", 0}});
  const auto pair = [&](bool is_split) {
    std::vector<torch::Tensor> plain;
    std::vector<torch::Tensor> made;
    for (int i = 0; i < 3; ++i) {
      plain.push_back(torch::rand({4, 4}) + 1);
      made.push_back(is_split ? renga::shard(plain.back(), mesh, rows)
                              : renga::shard(plain.back(), mesh, renga::Placements(1)));
    }
    return std::make_pair(plain, made);
  };
  std::printf("%-28s %8s %8s %8s\n", "nanoseconds a call", "plain", "renga", "more");
  for (const bool is_split : {true, false}) {
    const std::string kind = is_split ? " (split)" : " (replicated)";
    const auto [plain, made] = pair(is_split);
    compare("add" + kind, plain, made, [](auto& t) { torch::add(t[0], t[1]); });
    compare("mul by a number" + kind, plain, made, [](auto& t) { torch::mul(t[0], 2.0); });
    compare("relu" + kind, plain, made, [](auto& t) { torch::relu(t[0]); });
    compare("mul_" + kind, plain, made, [](auto& t) { t[0].mul_(1.0); });
    compare("add_" + kind, plain, made, [](auto& t) { t[0].add_(t[1], 0.0); });
    compare("addcmul_" + kind, plain, made, [](auto& t) { t[0].addcmul_(t[1], t[2], 0.0); });
    compare("addcdiv_" + kind, plain, made, [](auto& t) { t[0].addcdiv_(t[1], t[2], 0.0); });
    compare("zero_" + kind, plain, made, [](auto& t) { t[2].zero_(); });
    compare("sum" + kind, plain, made, [](auto& t) { t[0].sum(1); });
    compare("view" + kind, plain, made, [](auto& t) { t[0].view({4, 2, 2}); });
  }
}

}  // namespace

int main(int argc, char** argv) { return renga::run(argc, argv, run); }
