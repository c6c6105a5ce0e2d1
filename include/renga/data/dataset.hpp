// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga::data {

/// Extent of one image.
struct ImageShape {
  std::int64_t channels = 3;
  std::int64_t height = 32;
  std::int64_t width = 32;

  std::int64_t numel() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// Images with labels, by index. Reading is safe from several threads at once.
///
/// A data set of your own derives from this and writes `size`, `shape`, `classes` and `read_samples`.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Number of samples, at least 1.
  virtual std::int64_t size() const = 0;
  /// The same for every sample.
  virtual ImageShape shape() const = 0;
  /// Labels are in [0, classes); 0 when the labels mean nothing.
  virtual std::int64_t classes() const = 0;

  /// Fills in the samples of `indices`, in that order. Local, no communication; may be called
  /// concurrently, each call with tensors of its own.
  ///
  /// @param indices  each in [0, size()); may repeat; may be empty
  /// @param images   float32 [n, C, H, W], CPU, contiguous; receives values in [-1, 1]
  /// @param labels   int64 [n], CPU, contiguous
  /// @throws InvalidArgument for an index out of range or a tensor of another shape, dtype or layout
  /// @throws FileError       if the samples cannot be read
  void read(std::span<const std::int64_t> indices, const at::Tensor& images, const at::Tensor& labels) const;

 private:
  /// As `read`, with checked arguments: `images` has n * shape().numel() values, `labels` n.
  virtual void read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                            std::span<std::int64_t> labels) const = 0;
};

}  // namespace renga::data
