// SPDX-License-Identifier: Apache-2.0
#include "reduce_loops.hpp"

#include "src/core/vectorized.hpp"

namespace renga::detail {

RENGA_VECTORIZED void add(float* sum, const float* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum[i] += value[i];
  }
}

RENGA_VECTORIZED void add(double* sum, const double* value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum[i] += value[i];
  }
}

}  // namespace renga::detail
