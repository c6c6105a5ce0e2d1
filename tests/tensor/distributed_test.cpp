// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/distributed.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"
#include "renga/ops/ops.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

DeviceMesh line() { return {world(), {{"data", world().size()}}}; }

TEST(Shard, FullIsTheWholeAgainInEveryDtype) {
  const auto mesh = line();
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                           at::kChar, at::kByte, at::kBool, at::kComplexFloat, at::kComplexDouble}) {
    for (const std::int64_t rows : {0, 1, 2, 5, 13}) {
      const auto value = (torch::arange(rows * 6).view({rows, 2, 3}) % 5).to(dtype);
      for (std::int64_t dim = 0; dim < 3; ++dim) {
        const auto split = shard(value, mesh, {Shard(dim)});

        EXPECT_TRUE(torch::equal(full(split), value)) << dtype << " " << rows << " rows, dim " << dim;
        EXPECT_EQ(local(split).size(dim), spec(split)->own(dim).size());
      }
    }
  }
}

TEST(Shard, AnyStrides) {
  const auto mesh = line();
  const auto value = torch::arange(120.0).view({2, 3, 4, 5});
  for (const auto& form : {value.permute({3, 1, 0, 2}), value.contiguous(at::MemoryFormat::ChannelsLast),
                           value.slice(3, 1, 5, 2), value.select(1, 1).expand({3, 2, 4, 5})}) {
    EXPECT_TRUE(torch::equal(full(shard(form, mesh, {Shard(0)})), form));
  }
}

TEST(Shard, KeepsGeometryOfTheWhole) {
  const auto mesh = line();
  const auto value = torch::randn({4, 3, 6, 5});
  const auto split = shard(value, mesh, {Shard(0)});
  const auto same = [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() == b.sizes() && a.strides() == b.strides() && a.storage_offset() == b.storage_offset();
  };

  EXPECT_TRUE(same(split, value));
  EXPECT_TRUE(same(split.transpose(1, 3), value.transpose(1, 3)));
  EXPECT_TRUE(same(split.slice(0, 1, 3), value.slice(0, 1, 3)));
  EXPECT_TRUE(same(split.slice(2, 1, 6, 2).select(1, 2), value.slice(2, 1, 6, 2).select(1, 2)));
  EXPECT_TRUE(same(split.select(0, 2), value.select(0, 2)));
  EXPECT_TRUE(same(split.unsqueeze(2).expand({4, 3, 7, 6, 5}), value.unsqueeze(2).expand({4, 3, 7, 6, 5})));
  EXPECT_TRUE(same(split.flatten(1), value.flatten(1)));
  EXPECT_TRUE(same(split.view({2, 6, 30}), value.view({2, 6, 30})));
  EXPECT_TRUE(same(split.contiguous(at::MemoryFormat::ChannelsLast), value.contiguous(at::MemoryFormat::ChannelsLast)));
}

TEST(FromLocal, PiecesOfAnySizes) {
  const auto mesh = line();
  const std::int64_t rows = world().rank() == 1 ? 0 : world().rank() + 2;
  const auto joined = from_local(torch::full({rows, 3}, world().rank(), torch::kDouble), mesh, {Shard(0)});

  std::int64_t total = 0;
  for (int r = 0; r < world().size(); ++r) {
    total += r == 1 ? 0 : r + 2;
  }
  EXPECT_EQ(joined.size(0), total);
  EXPECT_EQ(full(joined.sum()).item<double>(), [] {
    double sum = 0;
    for (int r = 0; r < world().size(); ++r) {
      sum += r == 1 ? 0 : 3.0 * r * (r + 2);
    }
    return sum;
  }());
}

TEST(FromLocal, DifferentWidthsAreAMismatchEverywhere) {
  if (world().size() == 1) {
    GTEST_SKIP() << "needs 2 ranks";
  }
  const auto mesh = line();

  EXPECT_THROW(from_local(torch::zeros({2, world().rank() + 1}), mesh, {Shard(0)}), Mismatch);
}

TEST(Redistribute, ValuesStayAndGradientsComeBack) {
  const auto mesh = line();
  const auto value = torch::randn({7, 5}, torch::kDouble).set_requires_grad(true);
  const auto weight = torch::randn({7, 5}, torch::kDouble);
  (value * weight).sum().backward();
  for (const auto& from : {Replicate(), Shard(0), Shard(1)}) {
    for (const auto& to : {Replicate(), Shard(0), Shard(1)}) {
      const auto split = shard(value, mesh, {from});
      const auto moved = redistribute(split, {to});
      (moved * weight).sum().backward();

      EXPECT_EQ(placements(moved), Placements{to});
      EXPECT_TRUE(torch::equal(full(moved), value));
      EXPECT_TRUE(torch::allclose(full(split.grad()), value.grad()));
    }
  }
}

TEST(Redistribute, OneDimCutAlongTwoAxes) {
  if (world().size() != 4) {
    GTEST_SKIP() << "needs 4 ranks";
  }
  const DeviceMesh mesh(world(), {{"data", 2}, {"height", 2}});
  const auto value = torch::arange(66.0).view({11, 6});
  const std::vector<Placements> all{{Replicate(), Replicate()}, {Shard(0), Shard(0)},    {Shard(0), Shard(1)},
                                    {Shard(1), Shard(0)},       {Shard(0), Replicate()}, {Replicate(), Shard(0)}};
  for (const auto& from : all) {
    for (const auto& to : all) {
      const auto moved = redistribute(shard(value, mesh, from), to);

      EXPECT_TRUE(torch::equal(full(moved), value)) << placements_text(from) << " to " << placements_text(to);
      EXPECT_EQ(placements(moved), to);
    }
  }
}

TEST(Errors, SayWhatIsWrong) {
  const auto mesh = line();

  EXPECT_THROW(shard(torch::zeros({2, 2}), mesh, {Shard(2)}), InvalidArgument);
  EXPECT_THROW(shard(torch::zeros({2, 2}), mesh, {Partial()}), InvalidArgument);
  EXPECT_THROW(shard(torch::zeros({2, 2}), mesh, {Shard(0), Shard(1)}), InvalidArgument);
  EXPECT_THROW(shard(torch::zeros({2, 2}), mesh, AxisDims{{"nonsense", 0}}), InvalidArgument);
  EXPECT_THROW(redistribute(torch::zeros({2}), {Replicate()}), InvalidArgument);
  EXPECT_THROW(shard(torch::zeros({2, 3}), mesh, {Shard(0)}).view({5}), std::exception);
  EXPECT_THROW(shard(torch::zeros({2, 3}), mesh, {Shard(0)}).data_ptr(), std::exception);
}

TEST(Plain, MeetsDistributedAsReplicated) {
  const auto mesh = line();
  const auto value = torch::randn({5, 3}, torch::kDouble);
  const auto other = torch::randn({5, 3}, torch::kDouble);

  EXPECT_TRUE(torch::equal(full(shard(value, mesh, {Shard(0)}) + other), value + other));
  EXPECT_TRUE(torch::equal(full(other - shard(value, mesh, {Shard(1)})), other - value));
  EXPECT_TRUE(torch::equal(torch::zeros_like(value).copy_(shard(value, mesh, {Shard(0)})), value));
}

TEST(Partial, IsLazyAndAddedUpOnce) {
  const auto mesh = line();
  const auto value = torch::randn({8, 4}, torch::kDouble);
  const auto sum = shard(value, mesh, {Shard(0)}).sum(0);
  const auto view = sum.view({2, 2}).t();

  ASSERT_EQ(placements(sum * 2), Placements{Partial()});
  EXPECT_TRUE(torch::allclose(full((sum * 2 + sum).exp()), (value.sum(0) * 3).exp()));
  EXPECT_TRUE(torch::allclose(full(view), value.sum(0).view({2, 2}).t()));
  view.mul_(2);
  EXPECT_TRUE(torch::allclose(full(sum), value.sum(0) * 2)) << "a view and its base share one memory";
}

}  // namespace
}  // namespace renga::test
