// SPDX-License-Identifier: Apache-2.0
#include "renga/data/open_dataset.hpp"

#include <ATen/ATen.h>

#include "renga/core/error.hpp"

#include "tests/data/data_files.hpp"

namespace renga {
namespace {

using test::Bytes;

std::string failure(const std::string& name) {
  return test::message_of<FileError>([&] { data::open_dataset(name); });
}

TEST(OpenDataset, FashionMnistFromItsPackage) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    test::expect_contains(failure("fashion-mnist"), "apt-get install dataset-fashion-mnist");
    GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  }
  const auto train = data::open_dataset("fashion-mnist");
  const auto test_set = data::open_dataset("fashion-mnist", {.split = data::Split::Test, .channels = 3});
  const std::vector<std::int64_t> indices = {0, 1, 59999};
  const auto images = at::empty({3, 1, 32, 32});
  const auto labels = at::empty({3}, at::kLong);

  train->read(indices, images, labels);

  EXPECT_EQ(train->size(), 60000);
  EXPECT_EQ(test_set->size(), 10000);
  EXPECT_EQ(train->shape(), (data::ImageShape{1, 32, 32}));
  EXPECT_EQ(test_set->shape(), (data::ImageShape{3, 32, 32}));
  EXPECT_TRUE(at::equal(labels, at::tensor({9, 0, 5}, at::kLong)));
  EXPECT_EQ(images.min().item<float>(), -1);
  EXPECT_EQ(images.max().item<float>(), 1);
}

TEST(OpenDataset, SyntheticByName) {
  EXPECT_EQ(data::open_dataset("synthetic")->shape(), (data::ImageShape{3, 32, 32}));
  EXPECT_EQ(data::open_dataset("synthetic", {.image_size = 224, .channels = 1})->shape(),
            (data::ImageShape{1, 224, 224}));
  EXPECT_EQ(data::open_dataset("synthetic", {.samples = 7})->size(), 7);
}

TEST(OpenDataset, KnowsAFolderByItsFiles) {
  const test::TemporaryFolder cifar;
  cifar.write("test_batch.bin", Bytes(3073));
  const test::TemporaryFolder idx;
  idx.write("t10k-images-idx3-ubyte.gz",
            test::gzip(test::joined({0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2}, Bytes(4))));
  idx.write("t10k-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, 6});

  EXPECT_EQ(data::open_dataset(cifar.path(), {.split = data::Split::Test})->shape().channels, 3);
  EXPECT_EQ(data::open_dataset(idx.path(), {.split = data::Split::Test})->shape(), (data::ImageShape{1, 2, 2}));
}

TEST(OpenDataset, SaysWhatIsMissing) {
  const test::TemporaryFolder folder;

  test::expect_contains(failure("fasion-mnist"), "expected fashion-mnist, synthetic or a folder");
  test::expect_contains(failure(folder.write("file", {1})), "got a file");
  test::expect_contains(failure(folder.path()), "train-images-idx3-ubyte[.gz] and its like (MNIST)");
  folder.write("data_batch_1.bin", Bytes(3073));
  EXPECT_EQ(failure(folder.path()), folder.path("data_batch_2.bin") + ": no such file");
  folder.write("train-images-idx3-ubyte", {1});
  test::expect_contains(failure(folder.path()), "got files of both");
}

TEST(OpenDataset, OnlySyntheticTakesANumberOfSamples) {
  EXPECT_THROW(data::open_dataset("fashion-mnist", {.samples = 5}), InvalidArgument);
}

}  // namespace
}  // namespace renga
