// SPDX-License-Identifier: Apache-2.0
#include "src/data/byte_images.hpp"

#include <algorithm>
#include <utility>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::data {
namespace {

constexpr std::int64_t kMnistSize = 28;
constexpr std::int64_t kMnistPadded = 32;  // three poolings by 2 need a multiple of 8

std::int64_t padded(const RawImages& raw, std::int64_t size, const DatasetOptions& options) {
  const bool mnist = raw.shape.height == kMnistSize && raw.shape.width == kMnistSize;
  const std::int64_t result = options.image_size.value_or(mnist ? kMnistPadded : size);
  if (result < size) {
    throw InvalidArgument(
        text(raw.name, ": image size: expected at least ", size, ", the size of its images, got ", result));
  }
  return result;
}

std::int64_t channels_of(const RawImages& raw, const DatasetOptions& options) {
  const std::int64_t result = options.channels.value_or(raw.shape.channels);
  if (result != raw.shape.channels && (raw.shape.channels != 1 || result < 1)) {
    throw InvalidArgument(text(raw.name, ": channels: expected ", raw.shape.channels,
                               raw.shape.channels == 1 ? " or more" : "", ", got ", result));
  }
  return result;
}

}  // namespace

ByteImages::ByteImages(RawImages raw, const DatasetOptions& options)
    : raw_(std::move(raw)),
      shape_{channels_of(raw_, options), padded(raw_, raw_.shape.height, options),
             padded(raw_, raw_.shape.width, options)} {
  for (std::size_t byte = 0; byte < values_.size(); ++byte) {
    values_[byte] = static_cast<float>(byte) / 127.5F - 1.0F;
  }
}

void ByteImages::read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                              std::span<std::int64_t> labels) const {
  std::fill(images.begin(), images.end(), values_[0]);  // the border
  const std::int64_t source_plane = raw_.shape.height * raw_.shape.width;
  const std::int64_t target_plane = shape_.height * shape_.width;
  float* target = images.data();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint8_t* image = raw_.pixels.data() + indices[i] * raw_.shape.numel();
    for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
      write_plane(image + (raw_.shape.channels == 1 ? 0 : channel * source_plane), target);
      target += target_plane;
    }
    labels[i] = raw_.labels[static_cast<std::size_t>(indices[i])];
  }
}

void ByteImages::write_plane(const std::uint8_t* source, float* target) const {
  const std::int64_t top = (shape_.height - raw_.shape.height) / 2;
  const std::int64_t left = (shape_.width - raw_.shape.width) / 2;
  for (std::int64_t row = 0; row < raw_.shape.height; ++row) {
    const std::uint8_t* from = source + row * raw_.shape.width;
    float* to = target + (top + row) * shape_.width + left;
    for (std::int64_t column = 0; column < raw_.shape.width; ++column) {
      to[column] = values_[from[column]];
    }
  }
}

}  // namespace renga::data
