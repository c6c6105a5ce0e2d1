// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/core/Tensor.h>

namespace renga::detail {

/// Calls `function(data, count)` for consecutive pieces of at most `limit` elements; never for none.
template <typename Function>
void for_chunks(const at::Tensor& tensor, std::int64_t limit, const Function& function) {
  auto* const data = static_cast<char*>(tensor.data_ptr());
  const auto element = static_cast<std::int64_t>(tensor.element_size());
  for (std::int64_t begin = 0; begin < tensor.numel(); begin += limit) {
    function(static_cast<void*>(data + begin * element), static_cast<int>(std::min(limit, tensor.numel() - begin)));
  }
}

}  // namespace renga::detail
