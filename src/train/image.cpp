// SPDX-License-Identifier: Apache-2.0
#include "renga/train/image.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <ATen/ATen.h>
#include <png.h>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::train {
namespace {

constexpr std::int64_t kMargin = 2;

bool is_channels(std::int64_t count) { return count == 1 || count == 3; }

}  // namespace

void write_png(const std::string& path, const at::Tensor& image) {
  if (image.scalar_type() != at::kByte || image.dim() != 3 || !is_channels(image.size(2)) || image.numel() == 0) {
    throw InvalidArgument(text("write_png: expected uint8 [H, W, 1 or 3], got ", c10::toString(image.scalar_type()),
                               " ", sizes_text(image.sizes())));
  }
  const at::Tensor pixels = image.to(at::kCPU).contiguous();
  // libpng's simple interface reports errors by return value; the other one jumps over destructors.
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.height = static_cast<png_uint_32>(pixels.size(0));
  header.width = static_cast<png_uint_32>(pixels.size(1));
  header.format = pixels.size(2) == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<char> encoded(size);
  if (png_image_write_to_memory(&header, encoded.data(), &size, 0, pixels.data_ptr(), 0, nullptr) == 0) {
    throw FileError(text("write: ", path, ": cannot encode the image: ", header.message));
  }
  AtomicFile file(path);
  file.write(encoded.data(), size);
  file.commit();
}

at::Tensor image_grid(const at::Tensor& images, std::int64_t columns) {
  if (images.dim() != 4 || !is_channels(images.size(1)) || images.numel() == 0 || !images.is_floating_point() ||
      columns < 1) {
    throw InvalidArgument(text("image_grid: expected floating [N, 1 or 3, H, W] and 1 or more columns, got ",
                               c10::toString(images.scalar_type()), " ", sizes_text(images.sizes()), " and ", columns));
  }
  const at::NoGradGuard no_grad;
  const at::Tensor values = at::nan_to_num(images.to(at::kCPU, at::kFloat), -1.0)
                                .add(1.0)
                                .mul(127.5)
                                .round_()
                                .clamp_(0, 255)
                                .to(at::kByte)
                                .permute({0, 2, 3, 1});
  const std::int64_t count = values.size(0);
  const std::int64_t height = values.size(1);
  const std::int64_t width = values.size(2);
  columns = std::min(columns, count);
  const std::int64_t rows = (count + columns - 1) / columns;
  const at::Tensor grid = at::zeros(
      {rows * (height + kMargin) + kMargin, columns * (width + kMargin) + kMargin, values.size(3)}, at::kByte);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t top = i / columns * (height + kMargin) + kMargin;
    const std::int64_t left = i % columns * (width + kMargin) + kMargin;
    grid.narrow(0, top, height).narrow(1, left, width).copy_(values[i]);
  }
  return grid;
}

}  // namespace renga::train
