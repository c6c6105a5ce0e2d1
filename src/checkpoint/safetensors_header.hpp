// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "renga/checkpoint/safetensors.hpp"

namespace renga::detail {

/// Length of the number that a file begins with.
constexpr std::uint64_t kLengthBytes = 8;
/// Readers elsewhere refuse longer headers.
constexpr std::uint64_t kLongestHeader = 100'000'000;

/// A tensor and where its bytes lie, counted from the end of the header.
struct Entry {
  TensorInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  ///< in the order of their data, without holes
  Metadata metadata;
};

std::optional<at::ScalarType> dtype_of(std::string_view name);

/// Bytes of a tensor; nothing when that number does not fit, or a size is negative.
std::optional<std::uint64_t> byte_count(const TensorInfo& info);

/// Gives the tensors their places one after another.
/// @throws InvalidArgument see SafetensorsWriter
Header lay_out(std::vector<TensorInfo> tensors, const Metadata& metadata);

/// The JSON text, filled up with spaces to a multiple of 8 bytes.
std::string write_header(const Header& header);

/// @param data_bytes what follows the header in the file
/// @throws FileError without the path, for the caller to add
Header read_header(const std::string& json_text, std::uint64_t data_bytes);

}  // namespace renga::detail
