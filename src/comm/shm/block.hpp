// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace renga::detail {

/// What a rank says of its part in an operation when it comes to a barrier.
struct Note {
  std::int32_t operation = 0;
  std::int32_t argument = 0;  ///< root, or what reduction
  std::int64_t bytes = 0;
  std::int64_t offset = -1;  ///< of its tensor in its segment; -1 if it lies elsewhere
};

/// A rank's part of what a group shares, in the rank's own segment; others read it. Barriers are counted, never reset.
///
/// There are two of each thing that a barrier announces. What is written before barrier b is read between b and b + 1;
/// its place is written again before barrier b + 2, which is after this rank passed b + 1, so all have read it.
struct Block {
  static constexpr std::size_t kSlotBytes = std::size_t{1} << 18;

  alignas(64) std::atomic<std::uint64_t> arrived;  ///< the last barrier this rank has come to
  std::array<Note, 2> notes;
  alignas(64) std::atomic<std::uint64_t> retired;  ///< groups that have had this block and let go of it
  alignas(64) std::array<std::array<char, kSlotBytes>, 2> slots;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");
static_assert(offsetof(Block, retired) == 64, "the flag and its notes travel in one cache line");

}  // namespace renga::detail
