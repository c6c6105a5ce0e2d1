// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"
#include "renga/data/loader.hpp"
#include "renga/data/open_dataset.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/scope.hpp"

#include "tests/support/world.hpp"

namespace renga {
namespace {

using data::Loader;
using data::LoaderOptions;
using data::LoaderPosition;

std::shared_ptr<const data::Dataset> samples(std::int64_t count) {
  return data::open_synthetic({2, 7, 5}, {.samples = count, .seed = 8});
}

DeviceMesh data_mesh() { return {test::world(), {{"data", test::world().size()}}}; }

std::vector<std::int64_t> labels_of(Loader& loader) {
  std::vector<std::int64_t> all;
  for (auto& batch : loader) {
    const auto labels = full(batch.labels);
    all.insert(all.end(), labels.data_ptr<std::int64_t>(), labels.data_ptr<std::int64_t>() + labels.numel());
  }
  return all;
}

TEST(Loader, SizesAreGlobalOrForEachProcess) {
  const auto mesh = data_mesh();

  EXPECT_EQ(Loader(samples(1000), mesh).batch_size(), 64);
  EXPECT_EQ(Loader(samples(1000), mesh).batches_per_epoch(), 16);
  EXPECT_EQ(Loader(samples(1000), mesh, {.batch_size = 10}).batch_size(), 10);
  EXPECT_EQ(Loader(samples(1000), mesh, {.batch_per_process = 10}).batch_size(), 10 * test::world().size());
  const DeviceMesh rows(test::world(), {{"height", test::world().size()}});
  EXPECT_EQ(Loader(samples(1000), rows, {.batch_per_process = 10}).batch_size(), 10);
}

TEST(Loader, RefusesOptionsThatMakeNoSense) {
  const auto mesh = data_mesh();
  const auto dataset = samples(8);

  EXPECT_THROW(Loader(nullptr, mesh), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.batch_size = 0}), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.batch_per_process = -1}), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.batch_size = 4, .batch_per_process = 4}), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.workers = -1}), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.prefetch = 0}), InvalidArgument);
  EXPECT_THROW(Loader(dataset, mesh, {.dtype = at::kLong}), InvalidArgument);
}

TEST(Loader, RanksWithOtherDataAreAnError) {
  const Communicator world = test::world();
  if (world.size() == 1) {
    GTEST_SKIP() << "needs two ranks";
  }
  const auto mesh = data_mesh();

  EXPECT_THROW(Loader(samples(world.rank() == 1 ? 9 : 8), mesh), Mismatch);
  EXPECT_THROW(Loader(samples(8), mesh, {.seed = world.rank() == 0 ? 1U : 0U}), Mismatch);
}

TEST(Loader, GoesOnWhereItIsSent) {
  const auto mesh = data_mesh();
  const LoaderOptions options{.batch_size = 4};
  Loader through(samples(18), mesh, options);
  labels_of(through);
  const auto second_epoch = labels_of(through);
  Loader resumed(samples(18), mesh, options);

  resumed.seek(1, 3);

  EXPECT_EQ(resumed.position(), (LoaderPosition{1, 3}));
  EXPECT_EQ(resumed.epoch(), 1);
  EXPECT_EQ(labels_of(resumed), std::vector<std::int64_t>(second_epoch.begin() + 12, second_epoch.end()));
  EXPECT_EQ(resumed.position(), (LoaderPosition{2, 0}));
  EXPECT_EQ(labels_of(resumed), labels_of(through));
  EXPECT_THROW(resumed.seek(0, 5), InvalidArgument);
  EXPECT_THROW(resumed.seek(-1, 0), InvalidArgument);
}

TEST(Loader, LeavingAnEpochEarly) {
  Loader loader(samples(18), data_mesh(), {.batch_size = 4});
  for (auto& batch : loader) {
    EXPECT_EQ(batch.labels.size(0), 4);
    if (loader.position().batch == 2) {
      break;
    }
  }
  EXPECT_EQ(loader.position(), (LoaderPosition{0, 2}));
  EXPECT_EQ(loader.epoch(), 0);

  const auto batch = loader.begin();

  EXPECT_EQ(batch->labels.size(0), 4);
  EXPECT_EQ(loader.epoch(), 1);
}

TEST(Loader, IteratorMayOutliveIt) {
  auto loader = std::make_unique<Loader>(samples(18), data_mesh(), LoaderOptions{.batch_size = 4});
  auto batch = loader->begin();
  loader.reset();

  ++batch;

  EXPECT_EQ(batch->images.size(0), 4);
}

TEST(Loader, WorksInsideAScope) {
  const auto mesh = data_mesh();
  const Scope scope(mesh);
  for (const int workers : {0, 1}) {
    Loader loader(samples(6), mesh, {.batch_size = 4, .workers = workers});
    for (auto& [images, labels] : loader) {
      EXPECT_FALSE(is_dtensor(local(images)));
      EXPECT_TRUE(is_dtensor(labels));
    }
  }
}

// Reading its last sample fails; every reading takes a while.
class Broken : public data::Dataset {
 public:
  std::int64_t size() const override { return 40; }
  data::ImageShape shape() const override { return {1, 2, 2}; }
  std::int64_t classes() const override { return 0; }

 private:
  void read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                    std::span<std::int64_t> labels) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::fill(images.begin(), images.end(), 0.0F);
    std::copy(indices.begin(), indices.end(), labels.begin());
    if (std::count(indices.begin(), indices.end(), 39) != 0) {
      throw FileError("sample 39 is broken");
    }
  }
};

TEST(Loader, ErrorsOfWorkersComeOut) {
  // Nothing is split, so that every rank reads, and fails, alike.
  const DeviceMesh mesh(test::world(), {{"channel", test::world().size()}});
  for (const int workers : {0, 1, 2}) {
    Loader loader(std::make_shared<Broken>(), mesh,
                  {.batch_size = 4, .shuffle = data::Shuffle::Never, .workers = workers});
    int batches = 0;

    EXPECT_THROW(
        for (auto& batch
             : loader) {
          EXPECT_EQ(batch.images.size(0), 4);
          ++batches;
        },
        FileError);

    EXPECT_EQ(batches, 9);
  }
}

}  // namespace
}  // namespace renga
