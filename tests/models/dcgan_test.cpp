// SPDX-License-Identifier: Apache-2.0
#include "models/dcgan.hpp"

#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using renga::models::DcganOptions;
using renga::models::Discriminator;
using renga::models::Generator;
using Sizes = std::vector<std::int64_t>;

std::vector<std::string> parameter_names(const torch::nn::Module& module) { return module.named_parameters().keys(); }

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const auto& parameter : module.parameters()) {
    count += parameter.numel();
  }
  return count;
}

void expect_initial_values(const torch::nn::Module& module) {
  for (const auto& parameter : module.named_parameters()) {
    const auto& name = parameter.key();
    if (name.find("norm") != std::string::npos && name.ends_with("weight")) {
      EXPECT_TRUE(parameter->eq(1).all().item<bool>()) << name;
    } else if (name.ends_with("bias")) {
      EXPECT_TRUE(parameter->eq(0).all().item<bool>()) << name;
    } else {
      // The deviation of n draws is within 5 / sqrt(2n) of its own size, all but never outside.
      const double n = static_cast<double>(parameter->numel());
      EXPECT_NEAR(parameter->std().item<double>(), 0.02, 0.02 * 5 / std::sqrt(2 * n)) << name;
      EXPECT_NEAR(parameter->mean().item<double>(), 0, 0.02 * 5 / std::sqrt(n)) << name;
    }
  }
}

TEST(Generator, MakesImagesWithinMinusOneAndOne) {
  torch::manual_seed(0);
  Generator colour({.ch = 32});
  Generator grey({.ch = 16, .latent = 5, .channels = 1, .bottom_width = 3});

  const auto images = colour.forward(torch::randn({4, 128}));

  EXPECT_EQ(images.sizes(), (Sizes{4, 3, 32, 32}));
  EXPECT_LT(images.abs().max().item<double>(), 1.0);
  EXPECT_EQ(grey.forward(torch::randn({2, 5})).sizes(), (Sizes{2, 1, 24, 24}));
}

TEST(Discriminator, GivesOneLogitAnImage) {
  torch::manual_seed(0);
  Discriminator colour({.ch = 32});
  Discriminator grey({.ch = 16, .channels = 1, .bottom_width = 3});

  EXPECT_EQ(colour.forward(torch::randn({4, 3, 32, 32})).sizes(), (Sizes{4, 1}));
  EXPECT_EQ(grey.forward(torch::randn({2, 1, 24, 24})).sizes(), (Sizes{2, 1}));
}

TEST(Generator, HasTheParametersOfTheArticle) {
  const Generator generator;

  EXPECT_EQ(parameter_names(generator),
            (std::vector<std::string>{"linear.weight", "norm0.weight", "norm0.bias", "conv1.weight", "norm1.weight",
                                      "norm1.bias", "conv2.weight", "norm2.weight", "norm2.bias", "conv3.weight",
                                      "norm3.weight", "norm3.bias", "conv4.weight", "conv4.bias"}));
  const std::int64_t convolutions = 9 * (512 * 256 + 256 * 128 + 128 * 64 + 64 * 3) + 3;
  const std::int64_t norms = 2 * (16 * 512 + 256 + 128 + 64);
  EXPECT_EQ(parameter_count(generator), 128 * 16 * 512 + convolutions + norms);
  EXPECT_EQ(generator.conv1->weight.sizes(), (Sizes{256, 512, 3, 3}));
}

TEST(Discriminator, HasTheParametersOfTheArticle) {
  const Discriminator discriminator;

  EXPECT_EQ(parameter_names(discriminator),
            (std::vector<std::string>{"conv0.weight",  "conv0.bias",   "conv1.weight", "norm1.weight", "norm1.bias",
                                      "conv2.weight",  "norm2.weight", "norm2.bias",   "conv3.weight", "norm3.weight",
                                      "norm3.bias",    "conv4.weight", "norm4.weight", "norm4.bias",   "conv5.weight",
                                      "norm5.weight",  "norm5.bias",   "conv6.weight", "norm6.weight", "norm6.bias",
                                      "linear.weight", "linear.bias"}));
  const std::int64_t convolutions =
      9 * (3 * 32 + 32 * 64 + 64 * 64 + 64 * 128 + 128 * 128 + 128 * 256 + 256 * 256) + 32;
  const std::int64_t norms = 2 * (64 + 64 + 128 + 128 + 256 + 256);
  EXPECT_EQ(parameter_count(discriminator), convolutions + norms + 256 * 16 + 1);
}

TEST(Discriminator, NormHasNoScaleToLearn) {
  const Discriminator discriminator({.ch = 32});

  for (const auto& parameter : discriminator.named_parameters()) {
    const bool scale = parameter.key().find("norm") != std::string::npos && parameter.key().ends_with("weight");
    EXPECT_EQ(parameter->requires_grad(), !scale) << parameter.key();
  }
}

TEST(Dcgan, NormsKeepLibTorchsDefaults) {
  const Generator generator({.ch = 16});

  EXPECT_EQ(generator.norm0->options.eps(), 1e-5);
  EXPECT_EQ(generator.norm0->options.momentum(), 0.1);
  EXPECT_TRUE(generator.norm0->running_mean.defined());
}

TEST(Dcgan, WeightsAreNormalAndBiasesZero) {
  torch::manual_seed(1);

  expect_initial_values(Generator({.ch = 64}));
  expect_initial_values(Discriminator({.ch = 64}));
}

TEST(Dcgan, GradientReachesEveryParameter) {
  torch::manual_seed(0);
  Generator generator({.ch = 16});
  Discriminator discriminator({.ch = 16});

  discriminator.forward(generator.forward(torch::randn({8, 128}))).pow(2).sum().backward();

  for (const auto* module : std::initializer_list<const torch::nn::Module*>{&generator, &discriminator}) {
    for (const auto& parameter : module->named_parameters()) {
      if (parameter->requires_grad()) {
        ASSERT_TRUE(parameter->grad().defined()) << parameter.key();
        EXPECT_GT(parameter->grad().abs().max().item<double>(), 0) << parameter.key();
      }
    }
  }
}

TEST(Dcgan, RefusesSizesItCannotBuild) {
  EXPECT_THROW(Generator({.ch = 12}), std::invalid_argument);
  EXPECT_THROW(Generator({.ch = 0}), std::invalid_argument);
  EXPECT_THROW(Generator({.latent = 0}), std::invalid_argument);
  EXPECT_THROW(Generator({.channels = 0}), std::invalid_argument);
  EXPECT_THROW(Generator({.bottom_width = -1}), std::invalid_argument);
  try {
    Discriminator discriminator({.ch = 24});
    FAIL() << "24 was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Discriminator: expected ch to be a positive multiple of 16, got 24");
  }
}

}  // namespace
