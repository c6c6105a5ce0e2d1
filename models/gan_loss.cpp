// SPDX-License-Identifier: Apache-2.0
#include "models/gan_loss.hpp"

namespace renga::models {

torch::Tensor discriminator_loss(const torch::Tensor& real_logits, const torch::Tensor& fake_logits, GanLoss kind) {
  if (kind == GanLoss::Hinge) {
    return torch::relu(1 - real_logits).mean() + torch::relu(1 + fake_logits).mean();
  }
  return torch::softplus(-real_logits).mean() + torch::softplus(fake_logits).mean();
}

torch::Tensor generator_loss(const torch::Tensor& fake_logits, GanLoss kind) {
  if (kind == GanLoss::Hinge) {
    return -fake_logits.mean();
  }
  return torch::softplus(-fake_logits).mean();
}

}  // namespace renga::models
