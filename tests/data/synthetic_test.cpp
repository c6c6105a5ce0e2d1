// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"
#include "renga/data/open_dataset.hpp"

#include "src/data/counter_random.hpp"

namespace renga {
namespace {

using data::DatasetOptions;
using data::ImageShape;

struct Read {
  at::Tensor images;
  at::Tensor labels;
};

Read read(const data::Dataset& dataset, const std::vector<std::int64_t>& indices) {
  const auto shape = dataset.shape();
  const auto count = static_cast<std::int64_t>(indices.size());
  Read result{at::empty({count, shape.channels, shape.height, shape.width}), at::empty({count}, at::kLong)};
  dataset.read(indices, result.images, result.labels);
  return result;
}

TEST(CounterRandom, IsSplitMix64) {
  // The reference implementation (Vigna, splitmix64.c) started at 1234567.
  const data::CounterRandom random(1234567);

  EXPECT_EQ(random.at(0), 6457827717110365317U);
  EXPECT_EQ(random.at(1), 3203168211198807973U);
  EXPECT_EQ(random.at(4), 16408922859458223821U);
}

TEST(Synthetic, DependsOnSeedSplitAndIndexOnly) {
  const ImageShape shape{3, 5, 4};
  const auto dataset = data::open_synthetic(shape, {.seed = 3});
  const auto together = read(*dataset, {7, 2, 7});
  const auto alone = read(*dataset, {2});

  EXPECT_TRUE(at::equal(together.images[0], together.images[2]));
  EXPECT_TRUE(at::equal(together.images[1], alone.images[0]));
  EXPECT_EQ(together.labels[1].item<int>(), alone.labels[0].item<int>());
  EXPECT_FALSE(at::equal(together.images[0], together.images[1]));
  EXPECT_FALSE(at::equal(alone.images, read(*data::open_synthetic(shape, {.seed = 4}), {2}).images));
  const DatasetOptions test_options{.split = data::Split::Test, .seed = 3};
  EXPECT_FALSE(at::equal(alone.images, read(*data::open_synthetic(shape, test_options), {2}).images));
}

TEST(Synthetic, ValuesFillTheirRange) {
  const auto dataset = data::open_synthetic({1, 100, 100}, {.classes = 4, .samples = 200});
  std::vector<std::int64_t> indices(200);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::int64_t>(i);
  }
  const auto batch = read(*dataset, indices);
  const auto values = batch.images.to(at::kDouble);

  EXPECT_GE(values.min().item<double>(), -1);
  EXPECT_LT(values.max().item<double>(), 1);
  EXPECT_NEAR(values.mean().item<double>(), 0, 5e-3);
  EXPECT_NEAR(values.pow(2).mean().item<double>(), 1.0 / 3, 5e-3);
  const auto counts = at::bincount(batch.labels, {}, 4);
  EXPECT_EQ(counts.numel(), 4);
  EXPECT_GT(counts.min().item<int>(), 25);
}

TEST(Synthetic, SizesAreGivenOrUsual) {
  EXPECT_EQ(data::open_synthetic({})->size(), 50000);
  EXPECT_EQ(data::open_synthetic({}, {.split = data::Split::Test})->size(), 10000);
  EXPECT_EQ(data::open_synthetic({3, 224, 224})->shape(), (ImageShape{3, 224, 224}));
  EXPECT_EQ(data::open_synthetic({3, 224, 224}, {.image_size = 8, .channels = 1})->shape(), (ImageShape{1, 8, 8}));
  EXPECT_EQ(data::open_synthetic({})->classes(), 10);
}

TEST(Synthetic, RefusesSizesBelowOne) {
  EXPECT_THROW(data::open_synthetic({0, 4, 4}), InvalidArgument);
  EXPECT_THROW(data::open_synthetic({}, {.image_size = 0}), InvalidArgument);
  EXPECT_THROW(data::open_synthetic({}, {.classes = 0}), InvalidArgument);
  EXPECT_THROW(data::open_synthetic({}, {.samples = 0}), InvalidArgument);
}

TEST(Synthetic, ReadsFromSeveralThreads) {
  const auto dataset = data::open_synthetic({3, 16, 16});
  const std::vector<std::int64_t> indices = {5, 6, 7, 8};
  const auto expected = read(*dataset, indices);
  std::vector<Read> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] { result = read(*dataset, indices); });
    }
  }
  for (const auto& result : results) {
    EXPECT_TRUE(at::equal(result.images, expected.images));
  }
}

}  // namespace
}  // namespace renga
