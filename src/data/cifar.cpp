// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <utility>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/data/open_dataset.hpp"

#include "src/data/byte_file.hpp"
#include "src/data/byte_images.hpp"

namespace renga::data {
namespace {

constexpr ImageShape kShape{3, 32, 32};
constexpr std::int64_t kClasses = 10;

// A record is one byte of label and the image as three planes, red, green, blue.
constexpr std::size_t kPixels = 3072;
constexpr std::size_t kRecord = 1 + kPixels;

void append_batch(const std::string& path, RawImages& raw) {
  ByteFile file(path);
  const std::uint64_t size = file.capacity();
  if (size == 0 || size % kRecord != 0) {
    throw FileError(text(path, ": expected a multiple of ", kRecord, " bytes (records of CIFAR-10), got ", size));
  }
  const auto bytes = file.read_rest(size);
  for (std::size_t begin = 0; begin < bytes.size(); begin += kRecord) {
    const auto record = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    if (*record >= kClasses) {
      throw FileError(
          text(path, ": label of record ", begin / kRecord, ": expected 0 to ", kClasses - 1, ", got ", int{*record}));
    }
    raw.labels.push_back(*record);
    raw.pixels.insert(raw.pixels.end(), record + 1, record + kRecord);
  }
}

}  // namespace

std::shared_ptr<const Dataset> open_cifar10(const std::string& folder, const DatasetOptions& options) {
  if (options.classes.value_or(kClasses) != kClasses) {
    throw InvalidArgument(text(folder, ": classes: expected ", kClasses, " for CIFAR-10, got ", *options.classes));
  }
  std::vector<std::string> names = {"test_batch.bin"};
  if (options.split == Split::Train) {
    names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"};
  }
  RawImages raw{folder, kShape, {}, {}, kClasses};
  for (const auto& name : names) {
    append_batch((std::filesystem::path(folder) / name).string(), raw);
  }
  return std::make_shared<ByteImages>(std::move(raw), options);
}

}  // namespace renga::data
