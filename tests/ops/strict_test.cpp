// SPDX-License-Identifier: Apache-2.0
// Run with RENGA_STRICT=1: what has no rule is refused, what has one, or is not split, is not.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"
#include "renga/ops/ops.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

TEST(Strict, RefusesToGather) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});
  const auto value = torch::randn({6, 3});
  std::string message;

  try {
    shard(value, mesh, {Shard(0)}).sort(0);
  } catch (const NotAvailable& error) {
    message = error.what();
  }

  EXPECT_EQ(message.rfind("aten::sort", 0), 0U) << message;
  EXPECT_TRUE(torch::equal(full(std::get<0>(shard(value, mesh, {Replicate()}).sort(0))), std::get<0>(value.sort(0))));
  EXPECT_TRUE(torch::equal(full(shard(value, mesh, {Shard(0)}).exp()), value.exp()));
  EXPECT_NEAR(shard(value, mesh, {Shard(0)}).sum().item<double>(), value.sum().item<double>(), 1e-5);
}

}  // namespace
}  // namespace renga::test
