// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace renga::detail {

/// Which parts of a segment are taken. Any thread may call it: tensors die anywhere.
class Heap {
 public:
  Heap(std::size_t begin, std::size_t end);

  /// The offset of `bytes` free bytes, a multiple of 64, as low as possible; nothing if there is no such gap.
  std::optional<std::size_t> take(std::size_t bytes);
  /// @param offset  what `take` returned
  void give(std::size_t offset);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;   ///< offset to bytes; neighbours are merged
  std::map<std::size_t, std::size_t> taken_;  ///< offset to bytes
};

}  // namespace renga::detail
