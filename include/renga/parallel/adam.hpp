// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/optim/adam.h>

namespace renga::optim {

/// `torch::optim::Adam` whose step goes through memory once: it reads parameter, gradient and both moments of an
/// element, and writes them back, where LibTorch's eight operators read and write whole tensors, two of them
/// temporary. Same options, same state (so checkpoints of one load into the other), same results to rounding.
/// For parameters that are distributed or plain. A parameter's first step, and what there is no loop for (AMSGrad,
/// other dtypes than float and double, a gradient laid out unlike its parameter), is LibTorch's own.
class Adam : public torch::optim::Adam {
 public:
  using torch::optim::Adam::Adam;

  /// Collective when gradients are still to be added up. Cost: 28 bytes of memory traffic for a float parameter.
  torch::Tensor step(LossClosure closure = nullptr) override;
};

}  // namespace renga::optim
