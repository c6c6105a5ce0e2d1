// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace renga::detail {

/// PyTorch's name of a dtype: "float32", "bool", "complex64".
const char* dtype_name(at::ScalarType dtype);

}  // namespace renga::detail
