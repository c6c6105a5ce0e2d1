// SPDX-License-Identifier: Apache-2.0
// Training in one process with stock LibTorch against training on a mesh: the same numbers.
#include <gtest/gtest.h>

#include "models/dcgan.hpp"
#include "models/gan_loss.hpp"
#include "tests/support/world.hpp"
#include "training.hpp"

namespace renga::test {
namespace {

using torch::Tensor;

constexpr int kSteps = 20;

torch::TensorOptions kind() { return torch::kDouble; }

// conv - BN - pool - linear, stock LibTorch.
struct Classifier : torch::nn::Module {
  Classifier()
      : conv1(torch::nn::Conv2dOptions(3, 8, 3).padding(1).bias(false)),
        norm1(8),
        conv2(torch::nn::Conv2dOptions(8, 16, 3).padding(1).stride(2).bias(false)),
        norm2(16),
        linear(16 * 4 * 4, 10) {
    register_module("conv1", conv1);
    register_module("norm1", norm1);
    register_module("conv2", conv2);
    register_module("norm2", norm2);
    register_module("linear", linear);
  }
  Tensor forward(const Tensor& x) {
    const auto h = torch::max_pool2d(torch::relu(norm1(conv1(x))), 2);
    return linear(torch::relu(norm2(conv2(h))).flatten(1));
  }
  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d norm1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d norm2;
  torch::nn::Linear linear;
};

struct Images {
  std::vector<Tensor> x, y;
};

Images images(std::int64_t batch, std::int64_t size, int steps) {
  torch::manual_seed(5);
  Images made;
  for (int i = 0; i < steps; ++i) {
    made.x.push_back(torch::randn({batch, 3, size, size}, kind()));
    made.y.push_back(torch::randint(10, {batch}, torch::kLong));
  }
  return made;
}

Trained train_classifier(const Setting& setting, const std::string& optimizer, std::int64_t batch, int steps) {
  const Images data = images(batch, 16, steps);
  auto net = setting.module([] {
    auto made = std::make_shared<Classifier>();
    made->to(torch::kDouble);
    return made;
  });
  const auto stepper = optimizer_by_name(optimizer)(net->parameters());
  std::vector<Tensor> losses;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = setting.batch(data.x[static_cast<std::size_t>(i)]);
    const Tensor y = setting.batch(data.y[static_cast<std::size_t>(i)]);
    const auto closure = [&] {
      stepper->zero_grad();
      const Tensor loss = torch::cross_entropy_loss(net->forward(x), y);
      loss.backward();
      return loss;
    };
    losses.push_back(full(optimizer == "lbfgs" ? stepper->step(closure) : closure()).detach());
    if (optimizer != "lbfgs") {
      stepper->step();
    }
  }
  Trained out;
  collect("", *net, out);
  out["losses"] = torch::stack(losses);
  net->eval();
  out["evaluation"] = full(net->forward(setting.batch(data.x[0])));
  // In one process a reversed batch gives reversed outputs.
  out["evaluation"] = std::get<0>(out["evaluation"].sort(0));
  return out;
}

struct Noise {
  std::vector<Tensor> first, second, mix;
};

Noise noises(std::int64_t batch, int steps) {
  torch::manual_seed(6);
  Noise made;
  for (int i = 0; i < steps; ++i) {
    made.first.push_back(torch::randn({batch, 128}, kind()));
    made.second.push_back(torch::randn({batch, 128}, kind()));
    made.mix.push_back(torch::rand({batch, 1, 1, 1}, kind()));
  }
  return made;
}

enum class Penalty { None, Gradient };

// |grad of D at a mix of real and made images|, pulled towards 1: needs the gradient of a gradient.
Tensor gradient_penalty(models::Discriminator& d, const Tensor& real, const Tensor& made, const Tensor& mix) {
  const Tensor between = (real * mix + made * (1 - mix)).detach().set_requires_grad(true);
  const Tensor gradient = torch::autograd::grad({d.forward(between).sum()}, {between}, {}, true, true)[0];
  return (gradient.square().sum(torch::IntArrayRef{1, 2, 3}).sqrt() - 1).square().mean();
}

Trained train_dcgan(const Setting& setting, const std::string& optimizer, std::int64_t batch, Penalty penalty) {
  const Images data = images(batch, 32, kSteps);
  const Noise noise = noises(batch, kSteps);
  models::DcganOptions sizes;
  sizes.ch = 32;
  const auto in_double = [&sizes](auto made) {
    made->to(torch::kDouble);
    return made;
  };
  auto g = setting.module([&] { return in_double(std::make_shared<models::Generator>(sizes)); });
  auto d = setting.module([&] { return in_double(std::make_shared<models::Discriminator>(sizes)); });
  std::vector<Tensor> trained;
  for (const auto& parameter : d->parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  const auto g_step = optimizer_by_name(optimizer)(g->parameters());
  const auto d_step = optimizer_by_name(optimizer)(trained);
  std::vector<Tensor> losses;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const Tensor real = setting.batch(data.x[i]);
    Tensor made;
    {
      const torch::NoGradGuard no_grad;
      made = g->forward(setting.batch(noise.first[i]));
    }
    const Tensor logits = d->forward(torch::cat({real, made}));
    Tensor d_loss = models::discriminator_loss(logits.slice(0, 0, batch), logits.slice(0, batch));
    if (penalty == Penalty::Gradient) {
      d_loss = d_loss + 10 * gradient_penalty(*d, real, made, setting.batch(noise.mix[i]));
    }
    d_step->zero_grad();
    d_loss.backward();
    d_step->step();
    for (auto& parameter : trained) {
      parameter.set_requires_grad(false);
    }
    const Tensor g_loss = models::generator_loss(d->forward(g->forward(setting.batch(noise.second[i]))));
    g_step->zero_grad();
    g_loss.backward();
    g_step->step();
    for (auto& parameter : trained) {
      parameter.set_requires_grad(true);
    }
    losses.push_back(full(d_loss).detach());
    losses.push_back(full(g_loss).detach());
  }
  Trained out;
  collect("generator.", *g, out);
  collect("discriminator.", *d, out);
  out["losses"] = torch::stack(losses);
  return out;
}

using Case = std::tuple<std::string, std::int64_t>;

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::get<0>(info.param) + "_batch_" + std::to_string(std::get<1>(info.param));
}

class Exactness : public testing::TestWithParam<Case> {};

TEST_P(Exactness, Classifier) {
  const auto [optimizer, batch] = GetParam();

  const auto result = check_training("classifier, " + optimizer + ", batch " + std::to_string(batch),
                                     [&](const Setting& s) { return train_classifier(s, optimizer, batch, kSteps); });

  EXPECT_LE(result.excess, 1.0) << result.worst << " differs by " << result.error << ", rounding " << result.control;
}

TEST_P(Exactness, Dcgan) {
  const auto [optimizer, batch] = GetParam();

  const auto result = check_training("dcgan, " + optimizer + ", batch " + std::to_string(batch),
                                     [&](const Setting& s) { return train_dcgan(s, optimizer, batch, Penalty::None); });

  EXPECT_LE(result.excess, 1.0) << result.worst << " differs by " << result.error << ", rounding " << result.control;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Exactness,
                         testing::Combine(testing::Values("adam", "adamw", "sgd", "rmsprop"),
                                          testing::Values(64, 13, 3)),
                         case_name);

class WithPenalty : public testing::TestWithParam<std::int64_t> {};

TEST_P(WithPenalty, Dcgan) {
  const auto result =
      check_training("dcgan, gradient penalty, batch " + std::to_string(GetParam()),
                     [](const Setting& s) { return train_dcgan(s, "adam", GetParam(), Penalty::Gradient); });

  EXPECT_LE(result.excess, 1.0) << result.worst << " differs by " << result.error << ", rounding " << result.control;
}

INSTANTIATE_TEST_SUITE_P(Batches, WithPenalty, testing::Values(64, 13, 3));

// These amplify rounding, so they are compared early.
class FewSteps : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(FewSteps, Classifier) {
  const auto [optimizer, steps] = GetParam();

  const auto result = check_training("classifier, " + optimizer + ", " + std::to_string(steps) + " steps",
                                     [&](const Setting& s) { return train_classifier(s, optimizer, 13, steps); });

  EXPECT_LE(result.excess, 1.0) << result.worst << " differs by " << result.error << ", rounding " << result.control;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, FewSteps,
                         testing::Combine(testing::Values("adagrad", "lbfgs"), testing::Values(1, 3)));

}  // namespace
}  // namespace renga::test
