// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include "renga/comm/backend.hpp"

namespace renga::detail {

/// How a reduction is carried out by a backend that lacks its dtype or operator.
struct Reduction {
  at::ScalarType wire;   ///< the dtype that is communicated
  ReduceOp op;           ///< what the backend does
  std::int64_t divisor;  ///< divides what comes; 1 unless the backend cannot average
};

/// @throws InvalidArgument if `op` has no meaning for `dtype`
void check_reducible(const char* operation, at::ScalarType dtype, ReduceOp op);

/// @throws NotAvailable if the backend has no way to do it
Reduction plan_reduction(const char* operation, const Backend& backend, at::ScalarType dtype, ReduceOp op);

/// `tensor` contiguous and in the dtype of the wire; itself if it is so already.
at::Tensor to_wire(const at::Tensor& tensor, const Reduction& reduction);

/// Ends a reduction: divides if needed and puts the result into `target`.
void from_wire(const at::Tensor& target, const at::Tensor& arrived, const Reduction& reduction);

}  // namespace renga::detail
