// SPDX-License-Identifier: Apache-2.0
// The loops of `reduce` over one piece.
#pragma once

#include <cstdint>

#include "renga/comm/backend.hpp"

namespace renga::detail {

void add(float* sum, const float* value, std::int64_t count);
void add(double* sum, const double* value, std::int64_t count);

template <typename A, typename T>
void add(A* sum, const T* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum[i] = static_cast<A>(sum[i] + static_cast<A>(value[i]));
  }
}

template <typename A, typename T>
void multiply(A* product, const T* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    product[i] = static_cast<A>(product[i] * static_cast<A>(value[i]));
  }
}

/// Of anything and NaN it is NaN.
template <typename A, typename T>
void minimize(A* least, const T* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const A other = static_cast<A>(value[i]);
    least[i] = other < least[i] || other != other ? other : least[i];
  }
}

template <typename A, typename T>
void maximize(A* greatest, const T* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const A other = static_cast<A>(value[i]);
    greatest[i] = greatest[i] < other || other != other ? other : greatest[i];
  }
}

template <typename A>
void divide(A* sum, std::int64_t divisor, std::int64_t count) {
  const A by = static_cast<A>(static_cast<double>(divisor));
  for (std::int64_t i = 0; i < count; ++i) {
    sum[i] = sum[i] / by;
  }
}

template <typename From, typename To>
void convert(const From* from, To* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<To>(from[i]);
  }
}

}  // namespace renga::detail
