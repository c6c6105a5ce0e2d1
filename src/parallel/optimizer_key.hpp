// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>

#include <ATen/core/Tensor.h>

#include "renga/core/text.hpp"

namespace renga::detail {

/// The key of a parameter's state in an optimizer: its address, as text in older versions of LibTorch. `Key` is the
/// key type of `Optimizer::state()`.
template <typename Key>
Key optimizer_key(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<Key, std::string>) {
    return text(parameter.unsafeGetTensorImpl());
  } else {
    return static_cast<Key>(parameter.unsafeGetTensorImpl());
  }
}

}  // namespace renga::detail
