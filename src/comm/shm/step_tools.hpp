// SPDX-License-Identifier: Apache-2.0
// What the steps of collectives share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <ATen/core/Tensor.h>

#include "shm_group.hpp"

namespace renga::detail {

constexpr auto kSlot = static_cast<std::int64_t>(Block::kSlotBytes);

enum class ShmKind : std::int32_t { AllReduce = 1, ReduceScatter, AllGather, AllToAll, Broadcast, Barrier };

/// Says with the next barrier what this rank is about to do.
void announce(ShmRanks& ranks, ShmKind kind, std::int64_t argument, std::int64_t bytes, std::int64_t offset = -1);

/// After that barrier: whether rank `r` does the same. @throws CommunicationError that says how they differ
void require_same_step(const ShmRanks& ranks, int r, ShmKind kind, std::int64_t argument);
/// @throws CommunicationError if rank `r` announced another number of bytes
void require_bytes(const ShmRanks& ranks, int r, std::int64_t expected);

/// Of `whole` bytes, those of piece `index` when pieces have `piece`.
struct Range {
  std::int64_t begin;
  std::int64_t bytes;
};
inline Range piece_of(std::int64_t whole, std::int64_t piece, std::int64_t index) {
  const std::int64_t begin = std::min(whole, piece * index);
  return {begin, std::min(piece, whole - begin)};
}

inline std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; }

inline std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

inline char* data_of(const at::Tensor& tensor) { return static_cast<char*>(tensor.data_ptr()); }

inline void copy_bytes(char* to, const char* from, std::int64_t bytes) {
  if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace renga::detail
