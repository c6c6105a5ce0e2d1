// SPDX-License-Identifier: Apache-2.0
#include "models/dcgan.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <torch/nn/functional/upsampling.h>
#include <torch/nn/init.h>

namespace renga::models {
namespace {

constexpr double kInitialStd = 0.02;
constexpr double kLeakySlope = 0.2;

void require(bool holds, const char* where, const char* expected, std::int64_t got) {
  if (!holds) {
    std::ostringstream message;
    message << where << ": expected " << expected << ", got " << got;
    throw std::invalid_argument(message.str());
  }
}

DcganOptions checked(const DcganOptions& options, std::int64_t divisor, const char* where) {
  std::ostringstream width;
  width << "ch to be a positive multiple of " << divisor;
  require(options.ch > 0 && options.ch % divisor == 0, where, width.str().c_str(), options.ch);
  require(options.latent >= 1, where, "latent to be at least 1", options.latent);
  require(options.channels >= 1, where, "channels to be at least 1", options.channels);
  require(options.bottom_width >= 1, where, "bottom_width to be at least 1", options.bottom_width);
  return options;
}

// A layer whose result goes into batch norm has no bias: the norm subtracts it again.
torch::nn::Conv2dOptions conv_to_norm(std::int64_t in, std::int64_t out) {
  return torch::nn::Conv2dOptions(in, out, 3).stride(1).padding(1).bias(false);
}

torch::nn::Conv2dOptions conv_with_bias(std::int64_t in, std::int64_t out) { return conv_to_norm(in, out).bias(true); }

void draw_weights(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  for (auto& parameter : module.named_parameters()) {
    const auto& name = parameter.key();
    if (name.find("norm") != std::string::npos) {
      continue;  // batch norm starts as the identity
    }
    if (name.ends_with(".bias")) {
      parameter->zero_();
    } else {
      torch::nn::init::normal_(*parameter, 0.0, kInitialStd);
    }
  }
}

torch::Tensor twice_as_large(const torch::Tensor& x) {
  namespace F = torch::nn::functional;
  return F::interpolate(x,
                        F::InterpolateFuncOptions().scale_factor(std::vector<double>{2.0, 2.0}).mode(torch::kNearest));
}

torch::Tensor leaky(const torch::Tensor& x) { return torch::leaky_relu(x, kLeakySlope); }

}  // namespace

Generator::Generator(const DcganOptions& given)
    : options(checked(given, 8, "Generator")),
      linear(torch::nn::LinearOptions(options.latent, options.ch * options.bottom_width * options.bottom_width)
                 .bias(false)),
      norm0(options.ch * options.bottom_width * options.bottom_width),
      conv1(conv_to_norm(options.ch, options.ch / 2)),
      norm1(options.ch / 2),
      conv2(conv_to_norm(options.ch / 2, options.ch / 4)),
      norm2(options.ch / 4),
      conv3(conv_to_norm(options.ch / 4, options.ch / 8)),
      norm3(options.ch / 8),
      conv4(conv_with_bias(options.ch / 8, options.channels)) {
  register_module("linear", linear);
  register_module("norm0", norm0);
  register_module("conv1", conv1);
  register_module("norm1", norm1);
  register_module("conv2", conv2);
  register_module("norm2", norm2);
  register_module("conv3", conv3);
  register_module("norm3", norm3);
  register_module("conv4", conv4);
  draw_weights(*this);
}

torch::Tensor Generator::forward(torch::Tensor z) {
  auto h = torch::relu(norm0(linear(z)));
  h = h.view({z.size(0), options.ch, options.bottom_width, options.bottom_width});
  h = torch::relu(norm1(conv1(twice_as_large(h))));
  h = torch::relu(norm2(conv2(twice_as_large(h))));
  h = torch::relu(norm3(conv3(twice_as_large(h))));
  return torch::tanh(conv4(h));
}

Discriminator::Discriminator(const DcganOptions& given)
    : options(checked(given, 16, "Discriminator")),
      conv0(conv_with_bias(options.channels, options.ch / 16)),
      conv1(conv_to_norm(options.ch / 16, options.ch / 8)),
      norm1(options.ch / 8),
      conv2(conv_to_norm(options.ch / 8, options.ch / 8)),
      norm2(options.ch / 8),
      conv3(conv_to_norm(options.ch / 8, options.ch / 4)),
      norm3(options.ch / 4),
      conv4(conv_to_norm(options.ch / 4, options.ch / 4)),
      norm4(options.ch / 4),
      conv5(conv_to_norm(options.ch / 4, options.ch / 2)),
      norm5(options.ch / 2),
      conv6(conv_to_norm(options.ch / 2, options.ch / 2)),
      norm6(options.ch / 2),
      linear(options.ch / 2 * options.bottom_width * options.bottom_width, 1) {
  register_module("conv0", conv0);
  const std::vector<std::pair<torch::nn::Conv2d, torch::nn::BatchNorm2d>> blocks = {
      {conv1, norm1}, {conv2, norm2}, {conv3, norm3}, {conv4, norm4}, {conv5, norm5}, {conv6, norm6}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto number = std::to_string(i + 1);
    register_module("conv" + number, blocks[i].first);
    register_module("norm" + number, blocks[i].second)->weight.set_requires_grad(false);
  }
  register_module("linear", linear);
  draw_weights(*this);
}

torch::Tensor Discriminator::forward(torch::Tensor images) {
  auto h = leaky(conv0(images));
  h = leaky(norm1(conv1(h)));
  h = torch::avg_pool2d(h, 2);
  h = leaky(norm2(conv2(h)));
  h = leaky(norm3(conv3(h)));
  h = torch::avg_pool2d(h, 2);
  h = leaky(norm4(conv4(h)));
  h = leaky(norm5(conv5(h)));
  h = torch::avg_pool2d(h, 2);
  h = leaky(norm6(conv6(h)));
  return linear(h.flatten(1));
}

}  // namespace renga::models
