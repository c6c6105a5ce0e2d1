// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "renga/core/error.hpp"
#include "renga/data/open_dataset.hpp"

#include "tests/data/data_files.hpp"

namespace renga {
namespace {

using test::Bytes;

// Planes of one value each: red = label, green = 2 * label, blue = 3 * label, times 10.
Bytes records(const Bytes& labels) {
  Bytes bytes;
  for (const std::uint8_t label : labels) {
    bytes.push_back(label);
    for (const int factor : {10, 20, 28}) {
      bytes.insert(bytes.end(), 1024, static_cast<std::uint8_t>(factor * label));
    }
  }
  return bytes;
}

struct CifarFolder : test::TemporaryFolder {
  CifarFolder() {
    for (std::uint8_t number = 1; number <= 5; ++number) {
      write("data_batch_" + std::to_string(number) + ".bin", records({number, 9}));
    }
    write("test_batch.bin", records({7}));
  }
};

std::string failure(const CifarFolder& folder) {
  return test::message_of<FileError>([&] { data::open_cifar10(folder.path()); });
}

TEST(Cifar, ReadsTheBatchesInOrder) {
  const CifarFolder folder;
  const auto dataset = data::open_cifar10(folder.path());
  const std::vector<std::int64_t> indices = {0, 2, 9};
  const auto images = at::empty({3, 3, 32, 32});
  const auto labels = at::empty({3}, at::kLong);

  dataset->read(indices, images, labels);

  EXPECT_EQ(dataset->size(), 10);
  EXPECT_EQ(dataset->classes(), 10);
  EXPECT_EQ(dataset->shape(), (data::ImageShape{3, 32, 32}));
  EXPECT_TRUE(at::equal(labels, at::tensor({1, 2, 9}, at::kLong)));
  EXPECT_TRUE(images[1][0].eq(20 / 127.5F - 1).all().item<bool>());
  EXPECT_TRUE(images[1][1].eq(40 / 127.5F - 1).all().item<bool>());
  EXPECT_TRUE(images[1][2].eq(56 / 127.5F - 1).all().item<bool>());
}

TEST(Cifar, ReadsTheTestBatch) {
  const CifarFolder folder;

  EXPECT_EQ(data::open_cifar10(folder.path(), {.split = data::Split::Test})->size(), 1);
}

TEST(Cifar, NamesAMissingBatch) {
  const CifarFolder folder;
  std::filesystem::remove(folder.path("data_batch_3.bin"));

  EXPECT_EQ(failure(folder), folder.path("data_batch_3.bin") + ": no such file");
}

TEST(Cifar, RefusesAFileThatIsNotRecords) {
  const CifarFolder folder;

  folder.write("data_batch_2.bin", test::cut(records({1, 2}), 1));
  test::expect_contains(failure(folder), "data_batch_2.bin: expected a multiple of 3073 bytes");
  folder.write("data_batch_2.bin", {});
  test::expect_contains(failure(folder), "got 0");
}

TEST(Cifar, RefusesALabelOutOfRange) {
  const CifarFolder folder;
  folder.write("data_batch_4.bin", records({1, 10}));

  test::expect_contains(failure(folder), "data_batch_4.bin: label of record 1: expected 0 to 9, got 10");
}

TEST(Cifar, RefusesOtherShapesAndClasses) {
  const CifarFolder folder;

  EXPECT_EQ(data::open_cifar10(folder.path(), {.image_size = 40})->shape(), (data::ImageShape{3, 40, 40}));
  EXPECT_THROW(data::open_cifar10(folder.path(), {.image_size = 16}), InvalidArgument);
  EXPECT_THROW(data::open_cifar10(folder.path(), {.channels = 1}), InvalidArgument);
  EXPECT_THROW(data::open_cifar10(folder.path(), {.classes = 100}), InvalidArgument);
}

}  // namespace
}  // namespace renga
