// SPDX-License-Identifier: Apache-2.0
// A program outside the tree of renga: splits a tensor over all ranks, computes, gathers.
#include <cstdio>

#include <renga/renga.hpp>
#include <torch/torch.h>

int main(int argc, char** argv) {
  return renga::run(argc, argv, [](renga::Environment& environment) {
    const auto world = environment.world();
    const renga::DeviceMesh mesh(world, {{"data", world.size()}});
    const auto whole = torch::arange(10, torch::kDouble);
    const auto split = renga::shard(whole, mesh, {{"data", 0}});
    if (!torch::equal(renga::full(split * 2), whole * 2)) {
      throw renga::Error("consumer: the gathered tensor differs");
    }
    const double sum = renga::full(split.sum()).item<double>();
    if (world.rank() == 0) {
      std::printf("sum over all ranks: %g\n", sum);
    }
  });
}
