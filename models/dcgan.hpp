// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

namespace renga::models {

/// Sizes of a DCGAN. Generator and discriminator that train together take the same options.
struct DcganOptions {
  std::int64_t ch = 512;          ///< widest layer of the generator; the discriminator's is ch / 2
  std::int64_t latent = 128;      ///< length of z
  std::int64_t channels = 3;      ///< of an image: 3 colour, 1 grey
  std::int64_t bottom_width = 4;  ///< height and width of the smallest map; images are 8 times that
};

/// Makes images from noise: linear, then three times nearest up-sampling by 2 and a 3x3 convolution
/// that halves the channels, each with batch norm and ReLU; a last convolution and tanh.
///
/// Weights are normal with standard deviation 0.02 and biases zero, drawn from LibTorch's generator.
struct Generator : torch::nn::Module {
  /// @throws std::invalid_argument if `ch` is not a positive multiple of 8 or another size is below 1
  explicit Generator(const DcganOptions& options = {});

  /// @param z  [N, latent], floating
  /// @return   [N, channels, 8 * bottom_width, 8 * bottom_width], in (-1, 1)
  torch::Tensor forward(torch::Tensor z);

  const DcganOptions options;
  torch::nn::Linear linear;
  torch::nn::BatchNorm1d norm0;
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::Conv2d conv3;
  torch::nn::BatchNorm2d norm3;
  torch::nn::Conv2d conv4;
};

/// Tells real images from made ones: seven 3x3 convolutions with leaky ReLU (0.2) and batch norm
/// without scale (its weight is 1 and takes no gradient), three average poolings, a linear layer.
///
/// Weights are drawn as the generator's.
struct Discriminator : torch::nn::Module {
  /// @throws std::invalid_argument if `ch` is not a positive multiple of 16 or another size is below 1
  explicit Discriminator(const DcganOptions& options = {});

  /// @param images  [N, channels, 8 * bottom_width, 8 * bottom_width]
  /// @return        logits [N, 1]; positive means "real"
  torch::Tensor forward(torch::Tensor images);

  const DcganOptions options;
  torch::nn::Conv2d conv0;
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::Conv2d conv3;
  torch::nn::BatchNorm2d norm3;
  torch::nn::Conv2d conv4;
  torch::nn::BatchNorm2d norm4;
  torch::nn::Conv2d conv5;
  torch::nn::BatchNorm2d norm5;
  torch::nn::Conv2d conv6;
  torch::nn::BatchNorm2d norm6;
  torch::nn::Linear linear;
};

}  // namespace renga::models
