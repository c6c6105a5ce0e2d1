// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "renga/tensor/rule.hpp"

namespace renga {

/// Which operators are pointwise, as full names with overload ("aten::add.Tensor"), in all their forms
/// that this LibTorch has: functional, in-place and out=.
std::vector<std::string> pointwise_names();

/// How an operator treats summands of a Partial value.
enum class LinearKind {
  None,      ///< f(a + b) is not f(a) + f(b)
  Unary,     ///< one operand: neg, clone to another floating dtype
  Sum,       ///< both operands Partial alike: add, sub
  Product,   ///< one operand Partial: mul
  Quotient,  ///< only the first operand Partial: div
};
LinearKind linear_kind(const OperatorInfo& info);

}  // namespace renga
