// SPDX-License-Identifier: Apache-2.0
#include "src/data/byte_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <zlib.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::data {
namespace {

constexpr std::size_t kChunk = 1U << 16U;
constexpr std::size_t kGrowth = 1U << 22U;
// Deflate codes at most 258 bytes in 2 bits.
constexpr std::uint64_t kLargestRatio = 1032;
constexpr std::array<std::uint8_t, 2> kGzipMagic = {0x1f, 0x8b};
// zlib's window size for the largest window, plus 16 for "gzip header and checksum".
constexpr int kGzipWindow = 15 + 16;

}  // namespace

struct ByteFile::Inflater {
  explicit Inflater(const std::string& path) {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
      throw FileError(text(path, ": zlib could not start: out of memory"));
    }
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(ByteFile& file, std::span<std::uint8_t> out);
  void step(const std::string& path);

  z_stream stream{};
  std::vector<std::uint8_t> input = std::vector<std::uint8_t>(kChunk);
  bool within_member = true;  // a gzip file is one or more members; each ends with a checksum
};

ByteFile::ByteFile(const std::string& path) : path_(path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw FileError(text(path, std::filesystem::exists(path, error) ? ": not a file" : ": no such file"));
  }
  file_size_ = std::filesystem::file_size(path, error);
  file_.open(path, std::ios::binary);
  if (error || !file_) {
    throw FileError(text(path, ": cannot be opened for reading"));
  }
  std::array<std::uint8_t, 2> magic{};
  const bool gzip = read_raw(magic) == magic.size() && magic == kGzipMagic;
  file_.clear();
  file_.seekg(0);
  if (gzip) {
    inflater_ = std::make_unique<Inflater>(path);
  }
}

ByteFile::~ByteFile() = default;

std::uint64_t ByteFile::capacity() const { return inflater_ ? file_size_ * kLargestRatio : file_size_; }

std::size_t ByteFile::read_raw(std::span<std::uint8_t> out) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): streams read char
  file_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (file_.bad()) {
    throw FileError(text(path_, ": reading failed"));
  }
  return static_cast<std::size_t>(file_.gcount());
}

std::size_t ByteFile::read(std::span<std::uint8_t> out) {
  return inflater_ ? inflater_->read(*this, out) : read_raw(out);
}

std::size_t ByteFile::Inflater::read(ByteFile& file, std::span<std::uint8_t> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (stream.avail_in == 0) {
      stream.next_in = input.data();
      stream.avail_in = static_cast<uInt>(file.read_raw(input));
    }
    if (stream.avail_in == 0) {
      if (within_member) {
        throw FileError(text(file.path_, ": gzip data is cut off after ", file.file_size_, " bytes"));
      }
      break;
    }
    const std::size_t part = std::min(out.size() - done, kGrowth);
    stream.next_out = out.data() + done;
    stream.avail_out = static_cast<uInt>(part);
    step(file.path_);
    done += part - stream.avail_out;
  }
  return done;
}

void ByteFile::Inflater::step(const std::string& path) {
  if (!within_member) {
    inflateReset(&stream);
    within_member = true;
  }
  const int code = inflate(&stream, Z_NO_FLUSH);
  if (code == Z_STREAM_END) {
    within_member = false;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    throw FileError(text(path, ": gzip data is corrupt: ", stream.msg != nullptr ? stream.msg : "unknown error"));
  }
}

std::vector<std::uint8_t> ByteFile::read_rest(std::uint64_t count) {
  std::vector<std::uint8_t> bytes;
  if (count <= file_size_) {
    bytes.reserve(count);
  }
  while (bytes.size() < count) {
    const std::size_t before = bytes.size();
    const std::size_t part = std::min<std::uint64_t>(count - before, kGrowth);
    bytes.resize(before + part);
    const std::size_t got = read(std::span(bytes).subspan(before));
    if (got < part) {
      throw FileError(text(path_, ": truncated: expected ", count, " bytes of data, got ", before + got));
    }
  }
  std::array<std::uint8_t, 1> beyond{};
  if (read(beyond) != 0) {
    throw FileError(text(path_, ": expected its end after ", count, " bytes of data, got more"));
  }
  return bytes;
}

}  // namespace renga::data
