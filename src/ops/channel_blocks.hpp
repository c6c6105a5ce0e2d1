// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>
#include <ATen/Parallel.h>

#include "channel_loops.hpp"

// How channel_kernels.cpp goes through images: in parts, one a thread, and those in blocks.
namespace renga {

// How images lie in memory: `inner` neighbours of one channel, then the next channel.
struct Layout {
  std::int64_t outer, channels, inner;
};

// One run of memory that the loops handle at once, and what channels it has. Images with inner elements are
// seen as rows of loops::kLanes columns that all belong to one channel.
struct Block {
  std::int64_t first;    // element
  std::int64_t channel;  // of the first column
  loops::Rows rows;
};

inline at::MemoryFormat format_of(const at::Tensor& x) {
  const auto format = x.suggest_memory_format();
  return x.is_contiguous(format) ? format : at::MemoryFormat::Contiguous;
}

inline Layout layout_of(const at::Tensor& x) {
  const std::int64_t channels = x.size(1);
  if (x.dim() == 2 || !x.is_contiguous()) {
    return {channels == 0 ? 0 : x.numel() / channels, channels, 1};
  }
  const std::int64_t planes = x.size(0) * channels;
  return {x.size(0), channels, planes == 0 ? 0 : x.numel() / planes};
}

template <typename Visit>
void for_rows(std::int64_t first, std::int64_t channel, loops::Rows all, Visit visit) {
  for (std::int64_t c = 0; c < all.columns; c += loops::kColumns) {
    const std::int64_t columns = std::min(loops::kColumns, all.columns - c);
    for (std::int64_t r = 0; r < all.rows; r += loops::kRows) {
      const std::int64_t rows = std::min(loops::kRows, all.rows - r);
      visit(Block{first + r * all.stride + c, channel + c, {rows, columns, all.stride}});
    }
  }
}

// Blocks of channels as columns. The part `outer` of the images.
template <typename Visit>
void for_blocks(const Layout& layout, std::int64_t begin, std::int64_t end, Visit visit) {
  for_rows(begin * layout.channels, 0, {end - begin, layout.channels, layout.channels}, visit);
}

// Blocks of one channel each: its elements, in rows of loops::kLanes, and the rest one by one.
template <typename Visit>
void for_planes(const Layout& layout, std::int64_t begin, std::int64_t end, Visit visit) {
  const std::int64_t rows = layout.inner / loops::kLanes;
  const std::int64_t rest = layout.inner % loops::kLanes;
  for (std::int64_t plane = begin * layout.channels; plane < end * layout.channels; ++plane) {
    const std::int64_t channel = plane % layout.channels;
    for_rows(plane * layout.inner, channel, {rows, loops::kLanes, loops::kLanes}, visit);
    if (rest > 0) {
      visit(Block{plane * layout.inner + rows * loops::kLanes, channel, {1, rest, rest}});
    }
  }
}

// Calls `work(part, begin, end)` for parts of the images, on all threads.
inline void in_parts(const Layout& layout, std::int64_t parts,
                     const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& work) {
  at::parallel_for(0, parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      work(part, layout.outer * part / parts, layout.outer * (part + 1) / parts);
    }
  });
}

inline std::int64_t part_count(const Layout& layout) {
  return std::clamp<std::int64_t>(at::get_num_threads(), 1, std::max<std::int64_t>(layout.outer, 1));
}

template <typename Visit>
void for_all(const Layout& layout, std::int64_t begin, std::int64_t end, Visit visit) {
  layout.inner == 1 ? for_blocks(layout, begin, end, visit) : for_planes(layout, begin, end, visit);
}

}  // namespace renga
