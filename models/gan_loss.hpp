// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

namespace renga::models {

/// How a discriminator's logits are scored.
enum class GanLoss {
  Softplus,  ///< the non-saturating loss of the first GAN, log(1 + exp(x))
  Hinge,     ///< max(0, 1 - x) for real, max(0, 1 + x) for made images
};

/// What the discriminator minimizes. Softplus: mean(softplus(-real)) + mean(softplus(fake)); hinge:
/// mean(max(0, 1 - real)) + mean(max(0, 1 + fake)). The means are over all elements.
///
/// @param real_logits  any shape, floating, not empty: D of real images
/// @param fake_logits  any shape, floating, not empty: D of made images
/// @return             scalar, differentiable
torch::Tensor discriminator_loss(const torch::Tensor& real_logits, const torch::Tensor& fake_logits,
                                 GanLoss kind = GanLoss::Softplus);

/// What the generator minimizes. Softplus: mean(softplus(-fake)); hinge: -mean(fake).
///
/// @param fake_logits  any shape, floating, not empty: D of made images
/// @return             scalar, differentiable
torch::Tensor generator_loss(const torch::Tensor& fake_logits, GanLoss kind = GanLoss::Softplus);

}  // namespace renga::models
