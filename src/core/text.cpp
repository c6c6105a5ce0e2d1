// SPDX-License-Identifier: Apache-2.0
#include "renga/core/text.hpp"

namespace renga {

std::string sizes_text(const std::int64_t* begin, std::size_t count) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(begin[i]);
  }
  return out + "]";
}

std::vector<std::string> split_text(const std::string& whole, char separator) {
  std::vector<std::string> parts;
  if (whole.empty()) {
    return parts;
  }
  std::size_t begin = 0;
  for (std::size_t end = whole.find(separator); end != std::string::npos; end = whole.find(separator, begin)) {
    parts.push_back(whole.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(whole.substr(begin));
  return parts;
}

}  // namespace renga
