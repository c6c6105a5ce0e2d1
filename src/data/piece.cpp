// SPDX-License-Identifier: Apache-2.0
#include "src/data/piece.hpp"

#include <algorithm>

#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>

namespace renga::data {
namespace {

at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype) { return at::detail::empty_cpu(sizes, dtype); }

template <typename Scalar>
void copy_window(std::span<const float> images, const ImageShape& shape, const Window& window, Scalar* target) {
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t begin = 0; begin < images.size(); begin += plane) {
    for (std::int64_t row = window.rows.begin; row < window.rows.end; ++row) {
      const float* source = images.data() + begin + row * shape.width;
      target = std::transform(source + window.columns.begin, source + window.columns.end, target,
                              [](float value) { return static_cast<Scalar>(value); });
    }
  }
}

}  // namespace

Piece read_piece(const Dataset& dataset, std::span<const std::int64_t> indices, const Window& window,
                 at::ScalarType dtype) {
  const ImageShape shape = dataset.shape();
  const auto count = static_cast<std::int64_t>(indices.size());
  const at::Tensor whole = empty({count, shape.channels, shape.height, shape.width}, at::kFloat);
  Piece piece{whole, empty({count}, at::kLong)};
  dataset.read(indices, whole, piece.labels);
  if (window.rows.size() == shape.height && window.columns.size() == shape.width && dtype == at::kFloat) {
    return piece;
  }
  piece.images = empty({count, shape.channels, window.rows.size(), window.columns.size()}, dtype);
  const std::span<const float> values(whole.data_ptr<float>(), static_cast<std::size_t>(count * shape.numel()));
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "renga::data::read_piece",
                                  [&] { copy_window(values, shape, window, piece.images.data_ptr<scalar_t>()); });
  return piece;
}

}  // namespace renga::data
