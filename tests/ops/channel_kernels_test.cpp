// SPDX-License-Identifier: Apache-2.0
#include "src/ops/channel_kernels.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace renga::test {
namespace {

using torch::Tensor;

// One column, several blocks of columns, several of rows, planes with and without a rest, nothing at all.
const std::vector<std::vector<std::int64_t>> kShapes = {
    {7, 3},         {600, 2},     {5, 1100},    {1, 4},         {0, 4},     {2, 0, 3, 3},   {4, 3, 5, 5},
    {9, 70, 11, 7}, {3, 5, 1, 1}, {3, 1, 4, 9}, {2, 3, 16, 32}, {4, 6, 50}, {2, 3, 4, 5, 6}};

std::vector<Tensor> forms(const Tensor& x) {
  std::vector<Tensor> all{x, x.transpose(0, 1).contiguous().transpose(0, 1)};
  if (x.dim() == 4) {
    all.push_back(x.contiguous(at::MemoryFormat::ChannelsLast));
  } else if (x.dim() == 5) {
    all.push_back(x.contiguous(at::MemoryFormat::ChannelsLast3d));
  }
  return all;
}

std::vector<std::int64_t> all_but_channel(const Tensor& x) {
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  return dims;
}

Tensor spread(const Tensor& values, const Tensor& x) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = x.size(1);
  return values.view(sizes);
}

void expect_close(const Tensor& actual, const Tensor& expected, double bound) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  if (expected.numel() > 0) {
    const double scale = std::max(expected.abs().max().item<double>(), 1e-300);
    EXPECT_LE((actual - expected).abs().max().item<double>() / scale, bound);
  }
}

class ChannelKernels : public testing::TestWithParam<std::vector<std::int64_t>> {
 protected:
  static constexpr double kBound = 1e-13;
  static Tensor random() { return torch::randn(GetParam(), torch::kDouble); }
  static Tensor by_channel() { return torch::randn({GetParam()[1]}, torch::kDouble); }
};

TEST_P(ChannelKernels, Moments) {
  for (const int threads : {1, 2}) {
    torch::set_num_threads(threads);
    for (const auto& x : forms(random() + 3)) {
      const Tensor made = channel_moments(x);
      const auto dims = all_but_channel(x);
      const double count = static_cast<double>(x.numel()) / static_cast<double>(std::max<std::int64_t>(x.size(1), 1));
      const Tensor mean = count == 0 ? torch::zeros({x.size(1)}, torch::kDouble) : x.mean(dims);
      expect_close(made[0], mean, kBound);
      expect_close(made[1], (x - spread(mean, x)).square().sum(dims), kBound);
    }
  }
}

TEST_P(ChannelKernels, Affine) {
  const Tensor center = by_channel(), scale = by_channel(), shift = by_channel();
  for (const auto& x : forms(random())) {
    const Tensor expected = (x - spread(center, x)) * spread(scale, x) + spread(shift, x);
    expect_close(channel_affine(x, center, scale, shift), expected, kBound);
  }
}

TEST_P(ChannelKernels, SumsAndGradient) {
  const Tensor center = by_channel(), scale = by_channel(), factor = by_channel(), shift = by_channel();
  const Tensor gradient = random();
  for (const auto& x : forms(random())) {
    for (const auto& dy : forms(gradient)) {
      const Tensor centered = x - spread(center, x);
      const auto dims = all_but_channel(x);
      expect_close(channel_sums(dy, x, center), torch::stack({dy.sum(dims), (dy * centered).sum(dims)}), 1e-12);
      expect_close(channel_gradient(dy, x, center, scale, factor, shift),
                   dy * spread(scale, x) + centered * spread(factor, x) + spread(shift, x), kBound);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChannelKernels, testing::ValuesIn(kShapes));

// A mean a thousand deviations away from zero: a plain sum of squares would keep no digit of the variance.
TEST(ChannelKernelsInFloat, KeepDigitsFarFromZero) {
  torch::manual_seed(3);
  const Tensor x = torch::randn({64, 8, 16, 16}, torch::kDouble) + 1000;
  for (const auto& form : forms(x.to(torch::kFloat))) {
    const Tensor exact = form.to(torch::kDouble);
    const Tensor made = channel_moments(form);
    expect_close(made[0], exact.mean({0, 2, 3}), 1e-8);
    expect_close(made[1], exact.var({0, 2, 3}, false) * 64 * 16 * 16, 1e-5);
  }
}

TEST(ChannelKernelsInFloat, ResultsKeepTheMemoryOrder) {
  const Tensor x = torch::randn({4, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const Tensor c = torch::ones({3});
  EXPECT_TRUE(channel_affine(x, c, c, c).is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(
      channel_gradient(torch::randn({4, 3, 5, 5}), x, c, c, c, c).is_contiguous(at::MemoryFormat::ChannelsLast));
}

}  // namespace
}  // namespace renga::test
