// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace renga::optim {

/// What a step of Adam is made with; the names are those of Kingma and Ba, "Adam", 2015.
struct AdamFactors {
  double beta1;
  double beta2;
  double root_correction2;  ///< sqrt(1 - beta2^t)
  double epsilon;
  double step_size;  ///< learning rate / (1 - beta1^t)
  double weight_decay;
};

/// One step on `count` elements; the four arrays do not overlap.
void adam_loop(float* value, const float* gradient, float* mean, float* square, std::int64_t count,
               const AdamFactors& factors);
void adam_loop(double* value, const double* gradient, double* mean, double* square, std::int64_t count,
               const AdamFactors& factors);

}  // namespace renga::optim
