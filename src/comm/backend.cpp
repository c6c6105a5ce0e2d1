// SPDX-License-Identifier: Apache-2.0
#include "renga/comm/backend.hpp"

#include <ATen/EmptyTensor.h>

namespace renga {

const char* reduce_op_name(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum:
      return "sum";
    case ReduceOp::Avg:
      return "avg";
    case ReduceOp::Min:
      return "min";
    case ReduceOp::Max:
      return "max";
    case ReduceOp::Prod:
      return "prod";
  }
  return "unknown";
}

at::Tensor Backend::allocate(std::int64_t elements, at::ScalarType dtype) {
  return at::Tensor(at::detail::empty_cpu({elements}, dtype));
}

}  // namespace renga
