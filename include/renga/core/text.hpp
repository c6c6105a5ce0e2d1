// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace renga {

/// Joins its arguments into one string, as `std::cout << a << b` would print them.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Writes a list of sizes as "[2, 3, 4]".
std::string sizes_text(const std::int64_t* begin, std::size_t count);

template <typename Sizes>
std::string sizes_text(const Sizes& sizes) {
  return sizes_text(sizes.data(), sizes.size());
}

/// Splits at every `separator`; "a,,b" gives three parts, the empty string none.
std::vector<std::string> split_text(const std::string& whole, char separator);

}  // namespace renga
