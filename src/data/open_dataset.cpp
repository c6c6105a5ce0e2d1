// SPDX-License-Identifier: Apache-2.0
#include "renga/data/open_dataset.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::data {
namespace {

namespace fs = std::filesystem;

// Where distributions put Fashion-MNIST; Debian's package dataset-fashion-mnist is the first.
constexpr std::array kFashionFolders = {
    "/usr/share/datasets/fashion-mnist",
    "/usr/local/share/datasets/fashion-mnist",
    "/usr/share/dataset-fashion-mnist",
};

constexpr std::array kIdxNames = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                  "t10k-labels-idx1-ubyte"};
constexpr std::array kCifarNames = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// One file is enough: what is missing beside it is then said by the reader of its kind.
bool looks_like_idx(const fs::path& folder) {
  return std::any_of(kIdxNames.begin(), kIdxNames.end(), [&](const std::string& name) {
    return is_there(folder / name) || is_there(folder / (name + ".gz"));
  });
}

bool looks_like_cifar10(const fs::path& folder) {
  return std::any_of(kCifarNames.begin(), kCifarNames.end(), [&](const char* name) { return is_there(folder / name); });
}

std::shared_ptr<const Dataset> open_fashion_mnist(const DatasetOptions& options) {
  std::string searched;
  for (const char* folder : kFashionFolders) {
    if (looks_like_idx(folder)) {
      return open_idx(folder, options);
    }
    searched += text(searched.empty() ? "" : ", ", folder);
  }
  throw FileError(text("fashion-mnist: expected its files in one of ", searched,
                       ", got none; install them with: apt-get install dataset-fashion-mnist"));
}

std::shared_ptr<const Dataset> open_folder(const std::string& path, const DatasetOptions& options) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    throw FileError(text("data set \"", path, "\": expected fashion-mnist, synthetic or a folder, got ",
                         is_there(path) ? "a file" : "neither; there is no such folder"));
  }
  const bool idx = looks_like_idx(path);
  const bool cifar = looks_like_cifar10(path);
  if (idx && cifar) {
    throw FileError(text(path, ": expected one data set, got files of both MNIST's kind and CIFAR-10's"));
  }
  if (idx) {
    return open_idx(path, options);
  }
  if (cifar) {
    return open_cifar10(path, options);
  }
  throw FileError(text(path, ": expected ", kIdxNames[0], "[.gz] and its like (MNIST), or ", kCifarNames[0],
                       " and its like (CIFAR-10, binary version), got none of them"));
}

}  // namespace

std::shared_ptr<const Dataset> open_dataset(const std::string& name_or_path, const DatasetOptions& options) {
  if (name_or_path == "synthetic") {
    return open_synthetic({}, options);
  }
  if (options.samples) {
    throw InvalidArgument(text(name_or_path, ": samples: only the synthetic data set takes a number of samples"));
  }
  if (name_or_path == "fashion-mnist") {
    return open_fashion_mnist(options);
  }
  return open_folder(name_or_path, options);
}

}  // namespace renga::data
