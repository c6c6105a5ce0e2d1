// SPDX-License-Identifier: Apache-2.0
#include "models/gan_loss.hpp"

#include <cmath>
#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

using renga::models::discriminator_loss;
using renga::models::GanLoss;
using renga::models::generator_loss;

double softplus(double x) { return std::log1p(std::exp(x)); }

torch::Tensor column(std::initializer_list<double> values) {
  return torch::tensor(std::vector<double>(values), torch::kDouble).view({-1, 1});
}

TEST(GanLoss, SoftplusFormula) {
  const auto real = column({1.5, -0.5});
  const auto fake = column({0.25, -2.0, 3.0});

  const double expected_d =
      (softplus(-1.5) + softplus(0.5)) / 2 + (softplus(0.25) + softplus(-2.0) + softplus(3.0)) / 3;
  const double expected_g = (softplus(-0.25) + softplus(2.0) + softplus(-3.0)) / 3;

  EXPECT_NEAR(discriminator_loss(real, fake).item<double>(), expected_d, 1e-12);
  EXPECT_NEAR(generator_loss(fake).item<double>(), expected_g, 1e-12);
}

TEST(GanLoss, HingeFormula) {
  const auto real = column({1.5, -0.5});
  const auto fake = column({0.25, -2.0, 3.0});

  EXPECT_NEAR(discriminator_loss(real, fake, GanLoss::Hinge).item<double>(), (0.0 + 1.5) / 2 + (1.25 + 0.0 + 4.0) / 3,
              1e-12);
  EXPECT_NEAR(generator_loss(fake, GanLoss::Hinge).item<double>(), -1.25 / 3, 1e-12);
}

TEST(GanLoss, IsAScalarWithGradient) {
  for (const auto kind : {GanLoss::Softplus, GanLoss::Hinge}) {
    auto fake = column({0.25, -0.5}).set_requires_grad(true);

    const auto loss = generator_loss(fake, kind) + discriminator_loss(column({0.5}), fake, kind);
    loss.backward();

    EXPECT_EQ(loss.dim(), 0);
    EXPECT_TRUE(fake.grad().defined());
  }
}

TEST(GanLoss, LargeLogitsStayFinite) {
  const auto large = column({1000.0, -1000.0});

  EXPECT_TRUE(std::isfinite(discriminator_loss(large, large).item<double>()));
  EXPECT_TRUE(std::isfinite(generator_loss(large).item<double>()));
}

}  // namespace
