// SPDX-License-Identifier: Apache-2.0
#include "renga/data/loader.hpp"

#include <memory>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/data/open_dataset.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/support/world.hpp"

namespace renga {
namespace {

using data::Batch;
using data::Loader;
using data::LoaderOptions;
using data::Sampler;

const data::ImageShape kShape{2, 7, 5};

std::shared_ptr<const data::Dataset> samples(std::int64_t count) {
  return data::open_synthetic(kShape, {.samples = count, .seed = 8});
}

// Every way to lay this number of ranks on the axes a batch knows, and one it does not.
std::vector<DeviceMesh> meshes() {
  const Communicator world = test::world();
  std::vector<DeviceMesh> all;
  for (const auto* axis : {"data", "height", "width", "channel"}) {
    all.emplace_back(world, DeviceMesh::AxisSizes{{axis, world.size()}});
  }
  if (world.size() == 4) {
    all.emplace_back(world, DeviceMesh::AxisSizes{{"data", 2}, {"height", 2}});
    all.emplace_back(world, DeviceMesh::AxisSizes{{"height", 2}, {"width", 2}});
    all.emplace_back(world, DeviceMesh::AxisSizes{{"width", 2}, {"data", 2}});
  }
  return all;
}

Batch whole_batch(const data::Dataset& dataset, const std::vector<std::int64_t>& indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  const auto shape = dataset.shape();
  Batch batch{at::empty({count, shape.channels, shape.height, shape.width}), at::empty({count}, at::kLong)};
  dataset.read(indices, batch.images, batch.labels);
  return batch;
}

void expect_epochs_of_the_sampler(const DeviceMesh& mesh, std::int64_t count, const LoaderOptions& options) {
  const auto dataset = samples(count);
  const Sampler sampler(count, {.batch_size = *options.batch_size,
                                .seed = options.seed,
                                .shuffle = options.shuffle,
                                .last_batch = options.last_batch});
  Loader loader(dataset, mesh, options);
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    std::int64_t batch = 0;
    for (auto& [images, labels] : loader) {
      const auto expected = whole_batch(*dataset, sampler.batch(epoch, batch));
      EXPECT_TRUE(at::equal(full(images), expected.images.to(options.dtype)))
          << mesh.text() << ", " << count << " samples, epoch " << epoch << ", batch " << batch;
      EXPECT_TRUE(at::equal(full(labels), expected.labels));
      EXPECT_EQ(local(images).sizes(), at::IntArrayRef(spec(images)->local_sizes()));
      EXPECT_EQ(loader.epoch(), epoch);
      ++batch;
    }
    EXPECT_EQ(batch, sampler.batches_per_epoch());
  }
}

TEST(Loader, GivesTheUnsplitBatchOnEveryMesh) {
  for (const auto& mesh : meshes()) {
    expect_epochs_of_the_sampler(mesh, 23, {.batch_size = 6});
    expect_epochs_of_the_sampler(mesh, 21, {.batch_size = 5, .seed = 4, .workers = 3, .prefetch = 1});
  }
}

TEST(Loader, FewerSamplesThanRanks) {
  for (const auto& mesh : meshes()) {
    expect_epochs_of_the_sampler(mesh, 1, {.batch_size = 64});
    expect_epochs_of_the_sampler(mesh, 7, {.batch_size = 3, .workers = 0});
  }
}

TEST(Loader, FollowsItsOptions) {
  const auto mesh = meshes().back();
  expect_epochs_of_the_sampler(mesh, 10, {.batch_size = 4, .shuffle = data::Shuffle::Never});
  expect_epochs_of_the_sampler(mesh, 10, {.batch_size = 4, .last_batch = data::LastBatch::Drop});
  expect_epochs_of_the_sampler(mesh, 10, {.batch_size = 4, .dtype = at::kDouble});
}

TEST(Loader, LiesAsABatchDoes) {
  for (const auto& mesh : meshes()) {
    Loader loader(samples(8), mesh);
    for (auto& [images, labels] : loader) {
      EXPECT_EQ(placements(images), placements_of(mesh, batch(mesh)));
      const int axis = mesh.find_axis("data");
      Placements expected(static_cast<std::size_t>(mesh.axis_count()));
      if (axis >= 0) {
        expected[static_cast<std::size_t>(axis)] = Shard(0);
      }
      EXPECT_EQ(placements(labels), expected);
    }
  }
}

}  // namespace
}  // namespace renga
