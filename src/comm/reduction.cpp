// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <c10/core/ScalarType.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "buffers.hpp"
#include "dtype.hpp"

namespace renga::detail {
namespace {

// "any" and "all" of bytes that are 0 or 1.
ReduceOp logical(ReduceOp op) { return op == ReduceOp::Sum || op == ReduceOp::Max ? ReduceOp::Max : ReduceOp::Min; }

// The next dtype that can hold every value of this one without loss.
at::ScalarType wider(at::ScalarType dtype) {
  switch (dtype) {
    case at::kHalf:
    case at::kBFloat16:
      return at::kFloat;
    case at::kComplexHalf:
      return at::kComplexFloat;
    case at::kBool:
      return at::kByte;
    default:
      return dtype;
  }
}

}  // namespace

void check_reducible(const char* operation, at::ScalarType dtype, ReduceOp op) {
  const bool complex = c10::isComplexType(dtype);
  const bool ordered = !complex;
  const bool divisible = complex || c10::isFloatingType(dtype);
  if (op == ReduceOp::Avg && !divisible) {
    throw InvalidArgument(text(operation, ": op: expected sum, min, max or prod for ", dtype_name(dtype), ", got avg"));
  }
  if ((op == ReduceOp::Min || op == ReduceOp::Max) && !ordered) {
    throw InvalidArgument(
        text(operation, ": op: expected sum, avg or prod for ", dtype_name(dtype), ", got ", reduce_op_name(op)));
  }
}

Reduction plan_reduction(const char* operation, const Backend& backend, at::ScalarType dtype, ReduceOp op) {
  if (dtype == at::kBool) {
    return {at::kByte, logical(op), 1};
  }
  for (const at::ScalarType wire : {dtype, wider(dtype)}) {
    if (backend.reduces(wire, op)) {
      return {wire, op, 1};
    }
    if (op == ReduceOp::Avg && backend.reduces(wire, ReduceOp::Sum)) {
      return {wire, ReduceOp::Sum, backend.size()};
    }
  }
  throw NotAvailable(text(operation, ": backend ", backend.name(), " cannot reduce ", dtype_name(dtype), " with ",
                          reduce_op_name(op)));
}

at::Tensor to_wire(const at::Tensor& tensor, const Reduction& reduction) {
  if (tensor.scalar_type() == reduction.wire) {
    return packed(tensor);
  }
  at::Tensor converted = empty(tensor.sizes(), reduction.wire);
  converted.copy_(tensor);
  return converted;
}

void from_wire(const at::Tensor& target, const at::Tensor& arrived, const Reduction& reduction) {
  if (reduction.divisor != 1) {
    arrived.div_(reduction.divisor);
  }
  put(target, arrived);
}

}  // namespace renga::detail
