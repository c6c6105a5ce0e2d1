// SPDX-License-Identifier: Apache-2.0
#include "renga/data/dataset.hpp"

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::data {
namespace {

void require_buffer(const char* name, const at::Tensor& tensor, at::ScalarType dtype,
                    const std::vector<std::int64_t>& sizes) {
  if (!tensor.defined()) {
    throw InvalidArgument(text("data set: ", name, ": expected a tensor ", sizes_text(sizes), ", got none"));
  }
  if (tensor.scalar_type() != dtype) {
    throw InvalidArgument(
        text("data set: ", name, ": expected ", c10::toString(dtype), ", got ", c10::toString(tensor.scalar_type())));
  }
  if (tensor.sizes() != at::IntArrayRef(sizes)) {
    throw InvalidArgument(
        text("data set: ", name, ": expected ", sizes_text(sizes), ", got ", sizes_text(tensor.sizes())));
  }
  if (!tensor.device().is_cpu() || !tensor.is_contiguous()) {
    throw InvalidArgument(text("data set: ", name, ": expected a contiguous tensor on the CPU"));
  }
}

}  // namespace

void Dataset::read(std::span<const std::int64_t> indices, const at::Tensor& images, const at::Tensor& labels) const {
  const auto count = static_cast<std::int64_t>(indices.size());
  const ImageShape image = shape();
  require_buffer("images", images, at::kFloat, {count, image.channels, image.height, image.width});
  require_buffer("labels", labels, at::kLong, {count});
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size()) {
      throw InvalidArgument(text("data set: sample index: expected 0 to ", size() - 1, ", got ", index));
    }
  }
  read_samples(indices, {images.data_ptr<float>(), indices.size() * static_cast<std::size_t>(image.numel())},
               {labels.data_ptr<std::int64_t>(), indices.size()});
}

}  // namespace renga::data
