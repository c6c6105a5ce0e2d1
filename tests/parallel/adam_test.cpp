// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/adam.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

using torch::Tensor;
using torch::optim::AdamOptions;

DeviceMesh line() { return {world(), {{"data", world().size()}}}; }

struct Net : torch::nn::Module {
  Net() {
    register_module("conv", conv);
    register_module("linear", linear);
    register_module("unused", unused);
    to(torch::kDouble);
  }
  Tensor forward(const Tensor& x) { return linear(torch::tanh(conv(x)).flatten(1)); }
  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(3, 5, 3).padding(1)};
  torch::nn::Linear linear{5 * 16, 7};
  torch::nn::Linear unused{2, 2};
};

template <typename Optimizer>
std::map<std::string, Tensor> trained(const std::shared_ptr<Net>& net, const Tensor& x, const AdamOptions& options) {
  Optimizer optimizer(net->parameters(), options);
  for (int step = 0; step < 5; ++step) {
    for (auto& parameter : net->parameters()) {
      parameter.mutable_grad() = Tensor();
    }
    net->forward(x).square().mean().backward();
    optimizer.step();
  }
  std::map<std::string, Tensor> weights;
  for (const auto& parameter : net->named_parameters()) {
    weights[parameter.key()] = full(parameter.value()).detach();
  }
  return weights;
}

AdamOptions options(double decay, bool amsgrad) {
  AdamOptions made(1e-2);
  made.betas(std::make_tuple(0.7, 0.9)).weight_decay(decay).amsgrad(amsgrad);
  return made;
}

TEST(Adam, TrainsAsLibTorchs) {
  const auto make = [] {
    torch::manual_seed(1);
    return std::make_shared<Net>();
  };
  const Tensor x = torch::randn({7, 3, 4, 4}, torch::kDouble);
  for (const auto& wanted : {options(0, false), options(0.1, false), options(0.1, true)}) {
    const auto expected = trained<torch::optim::Adam>(make(), x, wanted);
    const auto distributed = trained<optim::Adam>(distribute(line(), make), shard(x, line(), {Shard(0)}), wanted);
    const auto plain = trained<optim::Adam>(make(), x, wanted);
    for (const auto& [name, value] : expected) {
      EXPECT_TRUE(torch::allclose(distributed.at(name), value, 1e-11, 1e-13)) << name;
      EXPECT_TRUE(torch::allclose(plain.at(name), value, 1e-12, 1e-14)) << name;
    }
  }
}

// One element, a rest after whole vectors, and more than one thread's part.
TEST(Adam, EverySizeAndDtype) {
  torch::set_num_threads(2);
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
    for (const std::int64_t size : {0, 1, 17, 100003}) {
      const Tensor start = torch::randn({size}).to(dtype);
      const Tensor slope = torch::randn({size}).to(dtype);
      std::vector<Tensor> ends;
      for (const bool ours : {false, true}) {
        Tensor parameter = start.clone().set_requires_grad(true);
        parameter.mutable_grad() = slope.clone();
        std::unique_ptr<torch::optim::Adam> optimizer;
        if (ours) {
          optimizer = std::make_unique<optim::Adam>(std::vector<Tensor>{parameter}, AdamOptions(1e-2));
        } else {
          optimizer = std::make_unique<torch::optim::Adam>(std::vector<Tensor>{parameter}, AdamOptions(1e-2));
        }
        optimizer->step();
        optimizer->step();
        ends.push_back(parameter.detach());
      }
      const double bound = dtype == torch::kDouble ? 1e-14 : dtype == torch::kFloat ? 1e-5 : 0;
      EXPECT_TRUE(torch::allclose(ends[1], ends[0], bound, bound)) << dtype << " " << size;
    }
  }
  torch::set_num_threads(1);
}

TEST(Adam, GradientLaidOutOtherwiseThanItsParameter) {
  Tensor a = torch::randn({3, 4}, torch::kDouble).set_requires_grad(true);
  Tensor b = a.detach().clone().set_requires_grad(true);
  const Tensor slope = torch::randn({4, 3}, torch::kDouble);
  a.mutable_grad() = slope.t();
  b.mutable_grad() = slope.t().contiguous();
  optim::Adam({a}, AdamOptions(1e-2)).step();
  torch::optim::Adam({b}, AdamOptions(1e-2)).step();
  EXPECT_TRUE(torch::allclose(a, b, 1e-14, 1e-15));
}

// A step changes parameters behind autograd's back, yet must not let a stale graph give wrong gradients.
TEST(Adam, StaleGraphsAreNoticed) {
  Tensor parameter = torch::ones({3}).set_requires_grad(true);
  const Tensor loss = (parameter * parameter).sum();
  loss.backward({}, true);
  optim::Adam({parameter}, AdamOptions(1e-2)).step();
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST(Adam, ClosureGivesItsLoss) {
  Tensor parameter = torch::ones({3}).set_requires_grad(true);
  optim::Adam optimizer({parameter}, AdamOptions(1e-2));
  const auto loss = optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor made = parameter.square().sum();
    made.backward();
    return made;
  });
  EXPECT_EQ(loss.item<float>(), 3.0F);
  EXPECT_LT(parameter.max().item<float>(), 1.0F);
}

}  // namespace
}  // namespace renga::test
