// SPDX-License-Identifier: Apache-2.0
#include "adam_loop.hpp"

#include <cmath>

#include "src/core/vectorized.hpp"

namespace renga::optim {
namespace {

template <typename T>
[[gnu::always_inline]] inline void loop(T* __restrict value, const T* __restrict gradient, T* __restrict mean,
                                        T* __restrict square, std::int64_t count, const AdamFactors& factors) {
  const T beta1 = static_cast<T>(factors.beta1);
  const T beta2 = static_cast<T>(factors.beta2);
  const T fresh1 = static_cast<T>(1 - factors.beta1);
  const T fresh2 = static_cast<T>(1 - factors.beta2);
  const T root = static_cast<T>(factors.root_correction2);
  const T epsilon = static_cast<T>(factors.epsilon);
  const T step = static_cast<T>(-factors.step_size);
  const T decay = static_cast<T>(factors.weight_decay);
  for (std::int64_t i = 0; i < count; ++i) {
    const T slope = gradient[i] + decay * value[i];
    mean[i] = mean[i] * beta1 + slope * fresh1;
    square[i] = square[i] * beta2 + fresh2 * slope * slope;
    value[i] += step * mean[i] / (std::sqrt(square[i]) / root + epsilon);
  }
}

}  // namespace

RENGA_VECTORIZED void adam_loop(float* value, const float* gradient, float* mean, float* square, std::int64_t count,
                                const AdamFactors& factors) {
  loop(value, gradient, mean, square, count, factors);
}

RENGA_VECTORIZED void adam_loop(double* value, const double* gradient, double* mean, double* square, std::int64_t count,
                                const AdamFactors& factors) {
  loop(value, gradient, mean, square, count, factors);
}

}  // namespace renga::optim
