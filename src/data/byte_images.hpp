// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "renga/data/dataset.hpp"
#include "renga/data/open_dataset.hpp"

namespace renga::data {

/// Images and labels as they lie in a file.
struct RawImages {
  std::string name;                  ///< for error messages: the data set or its file
  ImageShape shape;                  ///< of one image
  std::vector<std::uint8_t> pixels;  ///< [n, channels, height, width]
  std::vector<std::uint8_t> labels;  ///< [n]
  std::int64_t classes = 0;
};

/// A data set in memory, one byte a channel and pixel; 0 … 255 becomes -1 … 1.
class ByteImages : public Dataset {
 public:
  /// @throws InvalidArgument if `options` ask for a shape that these images cannot be brought into
  ByteImages(RawImages raw, const DatasetOptions& options);

  std::int64_t size() const override { return static_cast<std::int64_t>(raw_.labels.size()); }
  ImageShape shape() const override { return shape_; }
  std::int64_t classes() const override { return raw_.classes; }

 private:
  void read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                    std::span<std::int64_t> labels) const override;
  void write_plane(const std::uint8_t* source, float* target) const;

  RawImages raw_;
  ImageShape shape_;
  std::array<float, 256> values_{};
};

}  // namespace renga::data
