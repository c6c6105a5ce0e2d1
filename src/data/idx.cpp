// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/data/open_dataset.hpp"

#include "src/data/byte_file.hpp"
#include "src/data/byte_images.hpp"

namespace renga::data {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;
constexpr std::int64_t kClasses = 10;

struct IdxArray {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> values;
};

void read_exactly(ByteFile& file, std::span<std::uint8_t> out) {
  const std::size_t got = file.read(out);
  if (got < out.size()) {
    throw FileError(text(file.path(), ": truncated within its header"));
  }
}

//     byte  0  1  2            3     4 … 7           8 … 11
//           0  0  value type   dims  size of dim 0   size of dim 1 …   sizes big-endian
std::vector<std::int64_t> read_header(ByteFile& file, std::uint8_t dims) {
  std::array<std::uint8_t, 4> magic{};
  read_exactly(file, magic);
  if (magic[0] != 0 || magic[1] != 0) {
    throw FileError(text(file.path(), ": not an IDX file: expected it to begin with bytes 0 0, got ", int{magic[0]},
                         " ", int{magic[1]}));
  }
  if (magic[2] != kUnsignedByte) {
    throw FileError(
        text(file.path(), ": IDX value type: expected ", int{kUnsignedByte}, " (unsigned byte), got ", int{magic[2]}));
  }
  if (magic[3] != dims) {
    throw FileError(text(file.path(), ": IDX dims: expected ", int{dims}, ", got ", int{magic[3]}));
  }
  std::vector<std::int64_t> sizes;
  for (int dim = 0; dim < dims; ++dim) {
    std::array<std::uint8_t, 4> bytes{};
    read_exactly(file, bytes);
    sizes.push_back(std::int64_t{bytes[0]} << 24 | std::int64_t{bytes[1]} << 16 | std::int64_t{bytes[2]} << 8 |
                    std::int64_t{bytes[3]});
  }
  return sizes;
}

// The product of the sizes, after a check that the file can hold as much.
std::uint64_t value_count(const ByteFile& file, const std::vector<std::int64_t>& sizes) {
  std::uint64_t count = 1;
  for (const std::int64_t size : sizes) {
    if (size == 0) {
      throw FileError(text(file.path(), ": no data: its sizes are ", sizes_text(sizes)));
    }
    count *= static_cast<std::uint64_t>(size);
    if (count > file.capacity()) {
      throw FileError(text(file.path(), ": truncated or corrupt: its sizes are ", sizes_text(sizes),
                           ", but it can hold at most ", file.capacity(), " bytes"));
    }
  }
  return count;
}

IdxArray read_idx(const std::string& path, std::uint8_t dims) {
  ByteFile file(path);
  IdxArray array;
  array.sizes = read_header(file, dims);
  array.values = file.read_rest(value_count(file, array.sizes));
  return array;
}

std::string find_file(const std::filesystem::path& folder, const std::string& name) {
  for (const auto* ending : {"", ".gz"}) {
    const auto path = folder / (name + ending);
    std::error_code error;
    if (std::filesystem::exists(path, error)) {
      return path.string();
    }
  }
  throw FileError(text(folder.string(), ": expected ", name, " or ", name, ".gz, got neither"));
}

void require_labels(const std::string& path, const std::vector<std::uint8_t>& labels, std::int64_t classes) {
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::uint8_t label) { return label >= classes; });
  if (wrong != labels.end()) {
    throw FileError(text(path, ": label of sample ", wrong - labels.begin(), ": expected 0 to ", classes - 1, ", got ",
                         int{*wrong}));
  }
}

}  // namespace

std::shared_ptr<const Dataset> open_idx(const std::string& folder, const DatasetOptions& options) {
  const std::int64_t classes = options.classes.value_or(kClasses);
  if (classes < 1) {
    throw InvalidArgument(text(folder, ": classes: expected at least 1, got ", classes));
  }
  const std::string part = options.split == Split::Train ? "train" : "t10k";
  const auto images_path = find_file(folder, part + "-images-idx3-ubyte");
  const auto labels_path = find_file(folder, part + "-labels-idx1-ubyte");
  auto labels = read_idx(labels_path, 1);
  auto images = read_idx(images_path, 3);
  if (images.sizes[0] != labels.sizes[0]) {
    throw FileError(text(labels_path, ": expected ", images.sizes[0], " labels, one for each image of ", images_path,
                         ", got ", labels.sizes[0]));
  }
  require_labels(labels_path, labels.values, classes);
  RawImages raw{
      images_path, {1, images.sizes[1], images.sizes[2]}, std::move(images.values), std::move(labels.values), classes};
  return std::make_shared<ByteImages>(std::move(raw), options);
}

}  // namespace renga::data
