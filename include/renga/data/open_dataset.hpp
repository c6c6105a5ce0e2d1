// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "renga/data/dataset.hpp"

namespace renga::data {

/// Which part of a data set.
enum class Split { Train, Test };

/// What may be asked of any data set. What is not given is the data set's own.
struct DatasetOptions {
  Split split = Split::Train;
  /// Height and width. Files: larger than the images, they are centred in it, the border is -1 (a black
  /// pixel); smaller is an error. Images of 28x28 (MNIST's) become 32x32 by default. Synthetic: 32.
  std::optional<std::int64_t> image_size = std::nullopt;
  /// 3 repeats a grey image; 1 for colour images is an error. Synthetic: 3.
  std::optional<std::int64_t> channels = std::nullopt;
  /// Number of classes; a label that is not below it is an error. Default 10.
  std::optional<std::int64_t> classes = std::nullopt;
  /// Synthetic only: number of samples. Default 50000 to train, 10000 to test.
  std::optional<std::int64_t> samples = std::nullopt;
  /// Synthetic only.
  std::uint64_t seed = 0;
};

/// Opens a data set by name or path. Local, no communication: every rank opens its own. Files are read
/// and checked whole, and kept in memory one byte a channel and pixel (Fashion-MNIST: 47 MB).
///
/// @param name_or_path  "fashion-mnist" (from Debian's package dataset-fashion-mnist), "synthetic", or
///                      a folder with MNIST's IDX files or CIFAR-10's binary batches
/// @throws FileError        naming the file, what was expected and what was found
/// @throws InvalidArgument  for an option that this data set cannot follow
std::shared_ptr<const Dataset> open_dataset(const std::string& name_or_path, const DatasetOptions& options = {});

/// A folder with MNIST's four IDX files (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-…), plain
/// or gzip with ".gz" at the end of the name. @throws as `open_dataset`
std::shared_ptr<const Dataset> open_idx(const std::string& folder, const DatasetOptions& options = {});

/// A folder with CIFAR-10's binary batches (data_batch_1.bin to data_batch_5.bin, test_batch.bin).
/// @throws as `open_dataset`
std::shared_ptr<const Dataset> open_cifar10(const std::string& folder, const DatasetOptions& options = {});

/// Noise: every value uniform in [-1, 1) and every label uniform, from (seed, split, global sample
/// index) alone, so every rank draws the same sample without communication, on any machine.
/// @throws InvalidArgument for sizes below 1
std::shared_ptr<const Dataset> open_synthetic(const ImageShape& shape, const DatasetOptions& options = {});

}  // namespace renga::data
