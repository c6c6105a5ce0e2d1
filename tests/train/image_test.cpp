// SPDX-License-Identifier: Apache-2.0
#include "renga/train/image.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <png.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"

#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga::train {
namespace {

at::Tensor read_png(const std::string& path) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&header, path.c_str()) == 0) {
    ADD_FAILURE() << header.message;
    return {};
  }
  const bool is_grey = (header.format & PNG_FORMAT_FLAG_COLOR) == 0;
  header.format = is_grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  auto pixels = torch::empty({header.height, header.width, is_grey ? 1 : 3}, at::kByte);
  EXPECT_NE(png_image_finish_read(&header, nullptr, pixels.data_ptr(), 0, nullptr), 0);
  return pixels;
}

TEST(WritePng, GreyAndColorImagesComeBackExactly) {
  const TemporaryFolder folder;
  for (const std::int64_t channels : {1, 3}) {
    const auto image = torch::randint(0, 256, {17, 31, channels}, at::kByte);

    write_png(folder / "a.png", image);

    EXPECT_TRUE(torch::equal(read_png(folder / "a.png"), image)) << channels;
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.png"});
}

TEST(WritePng, AnyStridesAndTheSmallestImage) {
  const TemporaryFolder folder;
  const auto image = torch::randint(0, 256, {3, 5, 7}, at::kByte).permute({1, 2, 0});

  write_png(folder / "a.png", image);
  write_png(folder / "b.png", torch::full({1, 1, 1}, 200, at::kByte));

  EXPECT_TRUE(torch::equal(read_png(folder / "a.png"), image));
  EXPECT_EQ(read_png(folder / "b.png").item<int>(), 200);
}

TEST(WritePng, OtherTensorsAreRefused) {
  const TemporaryFolder folder;
  for (const auto& image : {torch::zeros({4, 4, 3}), torch::zeros({4, 4}, at::kByte),
                            torch::zeros({4, 4, 2}, at::kByte), torch::zeros({0, 4, 3}, at::kByte)}) {
    EXPECT_THROW(write_png(folder / "a.png", image), InvalidArgument);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(WritePng, AFullDiskIsAnErrorThatLeavesNothing) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(100);

  EXPECT_THROW(write_png(folder / "a.png", torch::randint(0, 256, {64, 64, 3}, at::kByte)), FileError);

  EXPECT_TRUE(folder.names().empty());
}

TEST(ImageGrid, EveryImageHasItsPlaceAndAMargin) {
  const auto images = torch::rand({5, 3, 4, 6}) * 2 - 1;

  const auto grid = image_grid(images, 3);

  ASSERT_EQ(grid.sizes(), (std::vector<std::int64_t>{2 * 6 + 2, 3 * 8 + 2, 3}));
  EXPECT_EQ(grid.scalar_type(), at::kByte);
  auto rest = grid.clone();
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto part = rest.narrow(0, i / 3 * 6 + 2, 4).narrow(1, i % 3 * 8 + 2, 6);
    const auto expected = ((images[i] + 1) * 127.5).round().to(at::kByte).permute({1, 2, 0});
    EXPECT_TRUE(torch::equal(part, expected)) << i;
    part.zero_();
  }
  EXPECT_EQ(rest.sum().item<std::int64_t>(), 0) << "margins and the free place are black";
}

TEST(ImageGrid, ValuesAreScaledClampedAndNeverUndefined) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto images = torch::tensor({-1.0F, 0.0F, 1.0F, 5.0F, -5.0F, nan, infinity, -infinity}).view({8, 1, 1, 1});

  const auto values = image_grid(images, 8)[2].slice(0, 2, 26, 3).flatten();

  EXPECT_TRUE(torch::equal(values, torch::tensor({0, 128, 255, 255, 0, 0, 255, 0}, at::kByte))) << values;
}

TEST(ImageGrid, FewImagesMakeANarrowGridAndGradientsDoNotMatter) {
  const auto images = torch::zeros({2, 1, 4, 4}, at::kDouble).requires_grad_();

  EXPECT_EQ(image_grid(images, 8).sizes(), (std::vector<std::int64_t>{8, 14, 1}));
}

TEST(ImageGrid, OtherTensorsAreRefused) {
  EXPECT_THROW(image_grid(torch::zeros({2, 4, 4}), 2), InvalidArgument);
  EXPECT_THROW(image_grid(torch::zeros({2, 2, 4, 4}), 2), InvalidArgument);
  EXPECT_THROW(image_grid(torch::zeros({0, 1, 4, 4}), 2), InvalidArgument);
  EXPECT_THROW(image_grid(torch::zeros({2, 1, 4, 4}, at::kByte), 2), InvalidArgument);
  EXPECT_THROW(image_grid(torch::zeros({2, 1, 4, 4}), 0), InvalidArgument);
}

}  // namespace
}  // namespace renga::train
