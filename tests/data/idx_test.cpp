// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>

#include "renga/core/error.hpp"
#include "renga/data/open_dataset.hpp"

#include "tests/data/data_files.hpp"

namespace renga {
namespace {

using test::Bytes;

constexpr std::uint32_t kCount = 5;
const std::string kImages = "train-images-idx3-ubyte";
const std::string kLabels = "train-labels-idx1-ubyte";

Bytes idx(std::uint8_t type, const std::vector<std::uint32_t>& sizes, const Bytes& values) {
  Bytes bytes = {0, 0, type, static_cast<std::uint8_t>(sizes.size())};
  for (const std::uint32_t size : sizes) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes.push_back(static_cast<std::uint8_t>(size >> shift));
    }
  }
  return test::joined(bytes, values);
}

// Pixel p of image i is 40 * i + p % 7, so that every place of every image can be told apart.
Bytes image_bytes(std::uint32_t count, std::uint32_t size) {
  Bytes pixels;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t pixel = 0; pixel < size * size; ++pixel) {
      pixels.push_back(static_cast<std::uint8_t>(40 * i + pixel % 7));
    }
  }
  return idx(8, {count, size, size}, pixels);
}

Bytes label_bytes(Bytes labels) {
  const auto count = static_cast<std::uint32_t>(labels.size());
  return idx(8, {count}, labels);
}

struct IdxFolder : test::TemporaryFolder {
  explicit IdxFolder(std::uint32_t size = 28) {
    write(kImages, image_bytes(kCount, size));
    write(kLabels, label_bytes({3, 1, 4, 1, 9}));
  }
};

std::string failure(const IdxFolder& folder) {
  return test::message_of<FileError>([&] { data::open_idx(folder.path()); });
}

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

void expect_padded_image(const at::Tensor& image, int index) {
  const auto expected = ((at::arange(28 * 28) % 7 + 40 * index) / 127.5 - 1).view({28, 28});
  EXPECT_TRUE(at::allclose(image.slice(0, 2, 30).slice(1, 2, 30), expected.to(at::kFloat), 1e-6, 1e-6));
  EXPECT_EQ(image.eq(-1).sum().item<int>() - (index == 0 ? 112 : 0), 32 * 32 - 28 * 28);
}

TEST(Idx, ReadsPlainAndGzipPaddedToThirtyTwo) {
  const IdxFolder plain;
  const test::TemporaryFolder packed;
  packed.write(kImages + ".gz", test::gzip(image_bytes(kCount, 28)));
  packed.write(kLabels + ".gz", test::gzip(label_bytes({3, 1, 4, 1, 9})));
  for (const auto& folder : {plain.path(), packed.path()}) {
    const auto dataset = data::open_idx(folder);
    const auto batch = read(*dataset, {4, 0, 2});

    EXPECT_EQ(dataset->size(), kCount);
    EXPECT_EQ(dataset->classes(), 10);
    EXPECT_EQ(dataset->shape(), (data::ImageShape{1, 32, 32}));
    EXPECT_TRUE(at::equal(batch.labels, at::tensor({9, 3, 4}, at::kLong)));
    expect_padded_image(batch.images[0][0], 4);
    expect_padded_image(batch.images[1][0], 0);
  }
}

TEST(Idx, FollowsSizeAndChannels) {
  const IdxFolder folder;
  const IdxFolder small(6);

  EXPECT_EQ(data::open_idx(folder.path(), {.image_size = 28})->shape(), (data::ImageShape{1, 28, 28}));
  EXPECT_EQ(data::open_idx(small.path())->shape(), (data::ImageShape{1, 6, 6}));
  const auto colour = data::open_idx(small.path(), {.image_size = 8, .channels = 3});
  EXPECT_EQ(colour->shape(), (data::ImageShape{3, 8, 8}));
  const auto images = read(*colour, {1}).images[0];
  EXPECT_TRUE(at::equal(images[0], images[1]));
  EXPECT_TRUE(at::equal(images[0], images[2]));
  EXPECT_FLOAT_EQ(images[0][1][1].item<float>(), 40 / 127.5F - 1);
  EXPECT_EQ(images[0][0][0].item<float>(), -1);
  EXPECT_THROW(data::open_idx(folder.path(), {.image_size = 27}), InvalidArgument);
  EXPECT_THROW(data::open_idx(folder.path(), {.channels = 0}), InvalidArgument);
  EXPECT_THROW(data::open_idx(folder.path(), {.classes = 0}), InvalidArgument);
}

TEST(Idx, TestSplitHasFilesOfItsOwn) {
  const IdxFolder folder;
  folder.write("t10k-images-idx3-ubyte", image_bytes(2, 28));
  test::expect_contains(
      test::message_of<FileError>([&] { data::open_idx(folder.path(), {.split = data::Split::Test}); }),
      "expected t10k-labels-idx1-ubyte or t10k-labels-idx1-ubyte.gz");

  folder.write("t10k-labels-idx1-ubyte", label_bytes({0, 1}));

  EXPECT_EQ(data::open_idx(folder.path(), {.split = data::Split::Test})->size(), 2);
}

TEST(Idx, RefusesAWrongHeader) {
  const IdxFolder folder;

  folder.write(kLabels, {'n', 'o', 't', ' ', 'i', 'd', 'x', '!'});
  test::expect_contains(failure(folder), kLabels + ": not an IDX file");
  folder.write(kLabels, idx(0x0D, {kCount}, Bytes(20)));
  test::expect_contains(failure(folder), "value type: expected 8 (unsigned byte), got 13");
  folder.write(kLabels, image_bytes(kCount, 28));
  test::expect_contains(failure(folder), "IDX dims: expected 1, got 3");
  folder.write(kLabels, {0, 0, 8, 1, 0});
  test::expect_contains(failure(folder), "truncated within its header");
}

TEST(Idx, RefusesAnotherLengthThanTheHeaderSays) {
  const IdxFolder folder;
  const Bytes images = image_bytes(kCount, 28);

  folder.write(kImages, test::cut(images, 1));
  test::expect_contains(failure(folder), "truncated: expected 3920 bytes of data, got 3919");
  folder.write(kImages, test::cut(images, 100));
  test::expect_contains(failure(folder),
                        "truncated or corrupt: its sizes are [5, 28, 28], but it can hold at most 3836");
  folder.write(kImages, test::gzip(test::cut(images, 100)));
  test::expect_contains(failure(folder), "truncated: expected 3920 bytes of data, got 3820");
  folder.write(kImages, test::joined(images, {0}));
  test::expect_contains(failure(folder), "expected its end after 3920 bytes of data, got more");
}

TEST(Idx, RefusesSizesThatTheFileCannotHold) {
  const IdxFolder folder;
  const std::uint32_t most = 0xffffffff;

  folder.write(kImages, idx(8, {most, most, most}, Bytes(10)));
  test::expect_contains(failure(folder), "but it can hold at most 26 bytes");
  folder.write(kImages, test::gzip(idx(8, {1U << 31, 1U << 31, 4}, Bytes(10))));
  test::expect_contains(failure(folder), "but it can hold at most");
  folder.write(kImages, idx(8, {0, 28, 28}, {}));
  test::expect_contains(failure(folder), "no data: its sizes are [0, 28, 28]");
}

TEST(Idx, RefusesLabelsThatDoNotFit) {
  const IdxFolder folder;

  folder.write(kLabels, label_bytes({1, 2, 3, 4}));
  test::expect_contains(failure(folder), "expected 5 labels, one for each image of");
  folder.write(kLabels, label_bytes({1, 2, 10, 4, 0}));
  test::expect_contains(failure(folder), kLabels + ": label of sample 2: expected 0 to 9, got 10");
  EXPECT_EQ(data::open_idx(folder.path(), {.classes = 11})->classes(), 11);
}

}  // namespace
}  // namespace renga
