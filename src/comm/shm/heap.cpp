// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <algorithm>
#include <iterator>

namespace renga::detail {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and what vector units like

}  // namespace

Heap::Heap(std::size_t begin, std::size_t end) : free_{{begin, end - begin}} {}

std::optional<std::size_t> Heap::take(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const std::lock_guard lock(mutex_);
  const auto gap = std::find_if(free_.begin(), free_.end(), [&](const auto& entry) { return entry.second >= size; });
  if (gap == free_.end()) {
    return std::nullopt;
  }
  const auto [offset, room] = *gap;
  free_.erase(gap);
  if (room > size) {
    free_.emplace(offset + size, room - size);
  }
  taken_.emplace(offset, size);
  return offset;
}

void Heap::give(std::size_t offset) {
  const std::lock_guard lock(mutex_);
  const auto block = taken_.find(offset);
  auto gap = free_.emplace(offset, block->second).first;
  taken_.erase(block);
  if (const auto next = std::next(gap); next != free_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap != free_.begin()) {
    const auto previous = std::prev(gap);
    if (previous->first + previous->second == gap->first) {
      previous->second += gap->second;
      free_.erase(gap);
    }
  }
}

}  // namespace renga::detail
