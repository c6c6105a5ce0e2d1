// SPDX-License-Identifier: Apache-2.0
#include "renga/data/dataset.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"
#include "renga/data/open_dataset.hpp"

namespace renga {
namespace {

using Indices = std::vector<std::int64_t>;

TEST(Dataset, TakesOnlyTensorsThatFit) {
  const auto dataset = data::open_synthetic({1, 2, 3}, {.samples = 4});
  const auto images = at::empty({2, 1, 2, 3});
  const auto labels = at::empty({2}, at::kLong);
  const Indices two = {0, 3};

  dataset->read(two, images, labels);

  EXPECT_THROW(dataset->read(two, images.to(at::kDouble), labels), InvalidArgument);
  EXPECT_THROW(dataset->read(two, images, labels.to(at::kInt)), InvalidArgument);
  EXPECT_THROW(dataset->read(two, at::empty({2, 1, 3, 2}), labels), InvalidArgument);
  EXPECT_THROW(dataset->read(two, at::empty({2, 1, 3, 2}).transpose(2, 3), labels), InvalidArgument);
  EXPECT_THROW(dataset->read(two, {}, labels), InvalidArgument);
  EXPECT_THROW(dataset->read(Indices{0}, images, labels), InvalidArgument);
}

TEST(Dataset, TakesOnlyIndicesItHas) {
  const auto dataset = data::open_synthetic({1, 2, 3}, {.samples = 4});
  const auto images = at::empty({1, 1, 2, 3});
  const auto labels = at::empty({1}, at::kLong);

  EXPECT_THROW(dataset->read(Indices{4}, images, labels), InvalidArgument);
  EXPECT_THROW(dataset->read(Indices{-1}, images, labels), InvalidArgument);
}

TEST(Dataset, ReadsNothing) {
  const auto dataset = data::open_synthetic({1, 2, 3}, {.samples = 4});

  EXPECT_NO_THROW(dataset->read(Indices{}, at::empty({0, 1, 2, 3}), at::empty({0}, at::kLong)));
}

}  // namespace
}  // namespace renga
