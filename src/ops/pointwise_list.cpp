// SPDX-License-Identifier: Apache-2.0
#include "pointwise_list.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace renga {
namespace {

// LibTorch marks these with the tag `pointwise` from version 2 on; 1.13 has no tags, so the list is data.
constexpr auto kPointwise = std::to_array<std::string_view>({
    "abs",
    "acos",
    "acosh",
    "add",
    "addcdiv",
    "addcmul",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "celu",
    "clamp",
    "clamp_max",
    "clamp_min",
    "conj_physical",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "div",
    "elu",
    "elu_backward",
    "eq",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "gcd",
    "ge",
    "gelu",
    "gelu_backward",
    "glu_jvp",
    "gt",
    "hardshrink",
    "hardshrink_backward",
    "hardsigmoid",
    "hardsigmoid_backward",
    "hardswish",
    "hardswish_backward",
    "hardtanh",
    "hardtanh_backward",
    "heaviside",
    "hypot",
    "i0",
    "igamma",
    "igammac",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lcm",
    "le",
    "leaky_relu",
    "leaky_relu_backward",
    "lerp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid_backward",
    "log_sigmoid_forward",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logit_backward",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mish",
    "mish_backward",
    "mul",
    "mvlgamma",
    "nan_to_num",
    "native_dropout_backward",
    "ne",
    "neg",
    "nextafter",
    "polygamma",
    "pow",
    "prelu_kernel",
    "rad2deg",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "round",
    "rrelu_with_noise_backward",
    "rsqrt",
    "rsub",
    "sgn",
    "sigmoid",
    "sigmoid_backward",
    "sign",
    "signbit",
    "silu",
    "silu_backward",
    "sin",
    "sinc",
    "sinh",
    "softplus",
    "softplus_backward",
    "softshrink",
    "softshrink_backward",
    "special_entr",
    "special_erfcx",
    "special_i0e",
    "special_i1",
    "special_i1e",
    "special_ndtri",
    "special_log_ndtr",
    "special_xlog1py",
    "special_zeta",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "tanh_backward",
    "threshold",
    "threshold_backward",
    "trunc",
    "where",
    "xlogy",
    "_conj_physical",
    "_prelu_kernel",
});

bool is_pointwise(const OperatorInfo& info) {
  if (std::find(kPointwise.begin(), kPointwise.end(), info.base) == kPointwise.end()) {
    return false;
  }
  // One result only, except for the pair of log_sigmoid_forward; named tensors are not supported.
  return (info.returned.size() == 1 || info.base == "log_sigmoid_forward") &&
         info.name.find("Dimname") == std::string::npos;
}

}  // namespace

std::vector<std::string> pointwise_names() {
  std::vector<std::string> names;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (name.name.rfind("aten::", 0) == 0 && op && op->hasSchema()) {
      const auto info = OperatorInfo::of(*op);
      if (is_pointwise(info)) {
        names.push_back(info.name);
      }
    }
  }
  return names;
}

LinearKind linear_kind(const OperatorInfo& info) {
  const auto& name = info.name;
  const auto dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (info.base == "neg" && overload.empty()) {
    return LinearKind::Unary;
  }
  if ((info.base == "add" || info.base == "sub") && overload == "Tensor") {
    return LinearKind::Sum;
  }
  if (info.base == "mul" && (overload == "Tensor" || overload == "Scalar")) {
    return LinearKind::Product;
  }
  if (info.base == "div" && (overload == "Tensor" || overload == "Scalar")) {
    return LinearKind::Quotient;
  }
  return LinearKind::None;
}

}  // namespace renga
