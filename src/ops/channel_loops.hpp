// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

// The loops of channel_kernels.cpp over one block. They are written so that a compiler turns them into vector instructions: the innermost index runs over
// neighbouring elements and no sum is carried from one to the next.
namespace renga::loops {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kColumns = 512;  // of a block at most: what is summed by column stays in the nearest cache
constexpr std::int64_t kRows = 256;     // of a block at most: few enough to be summed in float

/// Rows of channels: element (r, c) lies at r * stride + c. Called for at most kColumns channels.
struct Rows {
  std::int64_t rows, columns, stride;
};

template <typename T>
using Column = std::array<T, kColumns>;

/// Mean and sum of squared deviations. One pass, by deviations from the block's first row: sums of a few
/// thousand elements that are near zero keep their digits.
template <typename T>
[[gnu::always_inline]] inline void moments(const T* x, Rows block, T* __restrict mean, T* __restrict squares) {
  std::fill_n(mean, block.columns, T{0});
  std::fill_n(squares, block.columns, T{0});
  for (std::int64_t r = 1; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.columns; ++c) {
      const T deviation = x[r * block.stride + c] - x[c];
      mean[c] += deviation;
      squares[c] += deviation * deviation;
    }
  }
  const T count = static_cast<T>(block.rows);
  for (std::int64_t c = 0; c < block.columns; ++c) {
    squares[c] = std::max(squares[c] - mean[c] * mean[c] / count, T{0});
    mean[c] = x[c] + mean[c] / count;
  }
}

template <typename T>
[[gnu::always_inline]] inline void sums(const T* dy, const T* x, const T* center, Rows block, T* __restrict plain,
                                        T* __restrict weighted) {
  std::fill_n(plain, block.columns, T{0});
  std::fill_n(weighted, block.columns, T{0});
  for (std::int64_t r = 0; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.columns; ++c) {
      const T gradient = dy[r * block.stride + c];
      plain[c] += gradient;
      weighted[c] += gradient * (x[r * block.stride + c] - center[c]);
    }
  }
}

template <typename T>
[[gnu::always_inline]] inline void affine(const T* x, const T* center, const T* scale, const T* shift, Rows block,
                                          T* __restrict y) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.columns; ++c) {
      y[r * block.stride + c] = (x[r * block.stride + c] - center[c]) * scale[c] + shift[c];
    }
  }
}

template <typename T>
[[gnu::always_inline]] inline void gradient(const T* dy, const T* x, const T* center, const T* scale, const T* factor,
                                            const T* shift, Rows block, T* __restrict dx) {
  for (std::int64_t r = 0; r < block.rows; ++r) {
    for (std::int64_t c = 0; c < block.columns; ++c) {
      const std::int64_t at = r * block.stride + c;
      dx[at] = dy[at] * scale[c] + ((x[at] - center[c]) * factor[c] + shift[c]);
    }
  }
}

}  // namespace renga::loops
