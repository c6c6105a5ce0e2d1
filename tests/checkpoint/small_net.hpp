// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

/// One of everything a checkpoint has to carry: 1-, 2- and 4-d parameters, buffers of three dtypes, a
/// tied tensor, undefined buffers. Sizes do not divide by 2, 3 or 4 everywhere.
struct SmallNet : torch::nn::Module {
  SmallNet() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("free", free_norm);
    register_module("linear", linear);
    register_parameter("tied", linear->weight);
    register_buffer("flags", torch::ones({3}, torch::kBool));
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const auto hidden = torch::relu(norm(conv(images)));
    return linear(free_norm(hidden).mean({2, 3}));
  }

  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(3, 4, 3).bias(false)};
  torch::nn::BatchNorm2d norm{4};
  torch::nn::InstanceNorm2d free_norm{torch::nn::InstanceNorm2dOptions(4).affine(true)};
  torch::nn::Linear linear{4, 5};
};
