// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace renga::data {

/// A file read once from front to back; gzip is recognized by its first two bytes and unpacked.
class ByteFile {
 public:
  /// @throws FileError if `path` is not a file that can be read
  explicit ByteFile(const std::string& path);
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  const std::string& path() const { return path_; }

  /// The most bytes this file can hold: its size, or what gzip could at best make of that.
  std::uint64_t capacity() const;

  /// Fills `out`; returns how many bytes there were, fewer only at the end of the file.
  /// @throws FileError when reading fails, or gzip's data is cut off or does not match its checksum
  std::size_t read(std::span<std::uint8_t> out);

  /// The next `count` bytes and no more: the file has to end there. Memory grows with what is really
  /// there, so a wrong `count` costs nothing.
  /// @throws FileError as `read`, and when the file is shorter or longer
  std::vector<std::uint8_t> read_rest(std::uint64_t count);

 private:
  struct Inflater;
  std::size_t read_raw(std::span<std::uint8_t> out);

  std::string path_;
  std::ifstream file_;
  std::uint64_t file_size_ = 0;
  std::unique_ptr<Inflater> inflater_;  // set for gzip
};

}  // namespace renga::data
