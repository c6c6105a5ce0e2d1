// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/random.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/ops/ops.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

using torch::Tensor;

DeviceMesh line() { return {world(), {{"data", world().size()}}}; }

// Test vectors of Random123's kat_vectors for philox4x32-10, with a zero counter and key.
TEST(Philox, KnownAnswer) {
  const PhiloxWords words = philox(0, 0);

  EXPECT_EQ(words.word[0], 0x6627e8d5U);
  EXPECT_EQ(words.word[1], 0xe169c58dU);
  EXPECT_EQ(words.word[2], 0xbc57ac4cU);
  EXPECT_EQ(words.word[3], 0x9b00dbd8U);
}

TEST(Random, DoesNotDependOnTheSplit) {
  const auto mesh = line();
  const auto draw = [&mesh](Placement placement) {
    torch::manual_seed(9);
    return std::vector<Tensor>{full(randn(mesh, {7, 5, 2}, {placement}, torch::kDouble)),
                               full(rand(mesh, {7, 5, 2}, {placement}))};
  };
  const auto expected = draw(Replicate());
  for (const auto& placement : {Shard(0), Shard(1), Shard(2)}) {
    const auto actual = draw(placement);
    EXPECT_TRUE(torch::equal(actual[0], expected[0]));
    EXPECT_TRUE(torch::equal(actual[1], expected[1]));
  }
}

TEST(Random, DropoutDoesNotDependOnTheSplit) {
  const auto mesh = line();
  const Tensor ones = torch::ones({9, 4}, torch::kDouble);
  const auto drop = [&](Placement placement) {
    torch::manual_seed(9);
    const Tensor x = shard(ones, mesh, {placement}).set_requires_grad(true);
    const Tensor y = torch::dropout(x, 0.4, true);
    y.sum().backward();
    EXPECT_TRUE(torch::equal(full(x.grad()), full(y))) << "the gradient uses the same mask";
    return full(y).detach();
  };

  EXPECT_TRUE(torch::equal(drop(Shard(0)), drop(Shard(1))));
}

TEST(Random, HasTheRightDistribution) {
  const auto mesh = line();
  const Tensor normal = full(randn(mesh, {400, 250}, {Shard(0)}, torch::kDouble));
  const Tensor uniform = full(rand(mesh, {400, 250}, {Shard(0)}, torch::kDouble));
  const Tensor coin = full(shard(torch::zeros({400, 250}, torch::kDouble), mesh, {Shard(1)}).bernoulli_(0.3));

  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.02);
  EXPECT_NEAR(normal.std().item<double>(), 1, 0.02);
  EXPECT_NEAR(uniform.mean().item<double>(), 0.5, 0.01);
  EXPECT_GE(uniform.min().item<double>(), 0);
  EXPECT_LT(uniform.max().item<double>(), 1);
  EXPECT_NEAR(coin.mean().item<double>(), 0.3, 0.01);
}

TEST(Random, TwoDrawsDiffer) {
  const auto mesh = line();

  EXPECT_FALSE(torch::equal(full(randn(mesh, {10}, {Shard(0)})), full(randn(mesh, {10}, {Shard(0)}))));
}

TEST(Random, EveryInPlaceFormFillsAllOfASplitTensor) {
  const auto mesh = line();
  const auto draw = [&](Placement placement) {
    torch::manual_seed(4);
    const Tensor x = shard(torch::zeros({11, 3}, torch::kDouble), mesh, {placement});
    return std::vector<Tensor>{full(x.uniform_(2, 3)).clone(),    full(x.normal_(1, 2)).clone(),
                               full(x.exponential_()).clone(),    full(x.random_(5)).clone(),
                               full(torch::rand_like(x)).clone(), full(torch::randn_like(x)).clone()};
  };
  const auto a = draw(Shard(0));
  const auto b = draw(Shard(1));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(torch::equal(a[i], b[i])) << "form " << i;
  }
}

}  // namespace
}  // namespace renga::test
