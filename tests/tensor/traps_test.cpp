// SPDX-License-Identifier: Apache-2.0
// Each of these goes wrong silently, or hangs, when one property of the distributed tensor is missing.
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/core/error.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/random.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

using torch::Tensor;

DeviceMesh line() { return {world(), {{"data", world().size()}}}; }

// Geometry off: autograd rebuilds the gradient of a written view from sizes, strides and offset.
TEST(Traps, GradientOfWrittenViewNeedsTrueGeometry) {
  const auto run = [](const Tensor& x) {
    Tensor y = x * 1;
    y.select(0, 1).mul_(3);
    y.slice(0, 2, 4).add_(y.slice(0, 0, 2));
    y.permute({2, 0, 1}).select(0, 1).mul_(2);
    y.diagonal(0, 1, 2).mul_(5);
    return torch::autograd::grad({(y * y).sum()}, {x})[0];
  };
  const Tensor value = torch::randn({6, 3, 4}, torch::kDouble).set_requires_grad(true);
  for (const auto dim : {0, 1, 2}) {
    EXPECT_TRUE(torch::allclose(full(run(shard(value, line(), {Shard(dim)}))), run(value))) << "split in dim " << dim;
  }
}

// State unshared: clip_grad_norm_ works on `grad.data()`, another object over the same gradient.
TEST(Traps, ClippingReachesTheGradientItself) {
  const auto train = [](auto net, const Tensor& x) {
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      net->forward(x).square().sum().backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      optimizer.step();
    }
    return full(net->weight).detach().clone();
  };
  const auto make = [] {
    auto net = std::make_shared<torch::nn::LinearImpl>(4, 3);
    net->to(torch::kDouble);
    return net;
  };
  const Tensor x = torch::randn({7, 4}, torch::kDouble);
  torch::manual_seed(1);
  const Tensor expected = train(make(), x);
  torch::manual_seed(1);
  const Tensor actual = train(distribute(line(), make), shard(x, line(), {Shard(0)}));

  EXPECT_TRUE(torch::allclose(actual, expected, 1e-12, 1e-14));
}

TEST(Traps, DetachSharesWhatIsAddedUp) {
  const Tensor sum = shard(torch::ones({4, 2}, torch::kDouble), line(), {Shard(0)}).sum(0);
  const Tensor detached = sum.detach();

  detached.sqrt_();

  EXPECT_TRUE(torch::equal(full(sum), torch::full({2}, 2.0, torch::kDouble)));
}

// Convolutions work on channels_last: what a stock module does to its results and weights stays what it was.
TEST(Traps, ChannelsLastIsOurAffairOnly) {
  const auto make = [] {
    auto net = std::make_shared<torch::nn::Conv2dImpl>(torch::nn::Conv2dOptions(3, 4, 3).padding(1));
    net->to(torch::kDouble);
    return net;
  };
  torch::manual_seed(1);
  const auto plain = make();
  torch::manual_seed(1);
  const auto split = distribute(line(), make);
  EXPECT_TRUE(split->weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(full(split->weight), plain->weight));

  const Tensor x = torch::randn({5, 3, 6, 6}, torch::kDouble);
  const Tensor expected = plain->forward(x);
  const Tensor actual = split->forward(shard(x, line(), {Shard(0)}));
  EXPECT_TRUE(actual.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::allclose(full(actual.view({5, -1})), expected.view({5, -1})));
  EXPECT_TRUE(torch::allclose(full(actual.contiguous().view({-1})), expected.view({-1})));
  // Numbers are drawn in the order of a contiguous weight.
  const torch::NoGradGuard no_grad;
  for (const auto& draw : std::vector<std::function<void(const Tensor&)>>{
           [](const Tensor& w) { w.normal_(0, 0.02); }, [](const Tensor& w) { w.uniform_(-1, 1); },
           [](const Tensor& w) { w.exponential_(); }, [](const Tensor& w) { torch::nn::init::orthogonal_(w); },
           [](const Tensor& w) { torch::nn::init::kaiming_normal_(w); }, [](const Tensor& w) { w.random_(0, 9); },
           [](const Tensor& w) { w.bernoulli_(0.5); }}) {
    torch::manual_seed(2);
    draw(plain->weight);
    torch::manual_seed(2);
    draw(split->weight);
    EXPECT_TRUE(torch::equal(full(split->weight), plain->weight));
  }
}

TEST(Traps, ViewsOfChannelsLastThatAreWritten) {
  const Tensor weight = torch::randn({4, 3, 3, 3}, torch::kDouble);
  const Tensor value = torch::randn({5, 3, 6, 6}, torch::kDouble).set_requires_grad(true);
  const auto made = [&](const Tensor& x) { return torch::conv2d(x, weight, {}, 1, 1) * 1; };
  const auto run = [&](const Tensor& x) {
    Tensor y = made(x);
    Tensor rows = y.view({5, -1});
    rows.mul_(2);
    y.select(1, 0).mul_(3);
    return torch::autograd::grad({(rows * rows).sum() + y.pow(3).sum()}, {x})[0];
  };
  EXPECT_TRUE(torch::allclose(full(run(shard(value, line(), {Shard(0)}))), run(value)));

  // With another view about, the new one is a copy kept equal; autograd could not follow a write to it.
  Tensor y = made(shard(value, line(), {Shard(0)}));
  const Tensor first = y.select(1, 0);
  Tensor rows = y.view({5, -1});
  EXPECT_THROW(rows.mul_(2), NotAvailable);
  const torch::NoGradGuard no_grad;
  rows.zero_();
  EXPECT_EQ(full(first).abs().max().item<double>(), 0);
  y.add_(1);
  EXPECT_EQ(full(rows).min().item<double>(), 1);
}

// 2 samples on 3 ranks: a decision taken by looking at one's own piece differs between ranks, and they hang.
TEST(Traps, FewerSamplesThanRanks) {
  const auto run = [](const Tensor& x, const Tensor& w) {
    Tensor h = torch::conv2d(x, w, {}, 1, 1);
    h = torch::batch_norm(h, {}, {}, {}, {}, true, 0.1, 1e-5, false);
    h = torch::max_pool2d(torch::avg_pool2d(torch::relu(h), 2), 2);
    h = torch::cat({h, h * 2}, 0);
    const Tensor loss = torch::cross_entropy_loss(torch::log_softmax(h.flatten(1), 1), torch::tensor({1, 0, 1, 0}));
    return torch::autograd::grad({loss + h.amax() + h.mean()}, {x, w});
  };
  const Tensor x = torch::randn({2, 3, 8, 8}, torch::kDouble).set_requires_grad(true);
  const Tensor w = torch::randn({4, 3, 3, 3}, torch::kDouble).set_requires_grad(true);
  const auto expected = run(x, w);
  const auto actual = run(shard(x, line(), {Shard(0)}), shard(w, line(), {Replicate()}));

  EXPECT_TRUE(torch::allclose(full(actual[0]), expected[0], 1e-10, 1e-12));
  EXPECT_TRUE(torch::allclose(full(actual[1]), expected[1], 1e-10, 1e-12));
}

// LibTorch's serializer remembers storages by address; anything but an error would be wrong sometimes.
TEST(Traps, TorchSaveAlwaysThrows) {
  const auto net = distribute(line(), [] { return std::make_shared<torch::nn::LinearImpl>(5, 3); });
  for (int i = 0; i < 300; ++i) {
    std::ostringstream out;
    EXPECT_THROW(torch::save(std::static_pointer_cast<torch::nn::Module>(net), out), std::exception);
  }
}

TEST(Traps, SavingManyTimesIsRightEveryTime) {
  const auto net =
      distribute(line(), [] { return torch::nn::Sequential(torch::nn::Linear(5, 3), torch::nn::BatchNorm1d(3)); });
  const auto folder = std::filesystem::temp_directory_path() / ("renga-traps-" + std::to_string(world().size()));
  if (world().rank() == 0) {
    std::filesystem::create_directories(folder);
  }
  world().barrier();
  const std::string path = folder / "net.safetensors";
  for (int i = 0; i < 300; ++i) {
    {
      const torch::NoGradGuard no_grad;
      for (auto& parameter : net->parameters()) {
        parameter.add_(1);
      }
    }
    save(path, *net);
    if (world().rank() == 0) {
      const auto tensors = load_tensors(path);
      for (const auto& item : net->named_parameters()) {
        EXPECT_TRUE(torch::equal(tensors.at(item.key()), full(item.value()))) << "save " << i;
      }
    }
    world().barrier();
  }
  if (world().rank() == 0) {
    std::filesystem::remove_all(folder);
  }
}

// LibTorch seeds every process differently.
TEST(Traps, RanksStartFromOneSeed) {
  const auto digests = world().all_gather_text(std::to_string(generator_digest()));

  for (const auto& digest : digests) {
    EXPECT_EQ(digest, digests.front());
  }
}

TEST(Traps, DriftedGeneratorIsAMismatchEverywhere) {
  if (world().size() == 1) {
    GTEST_SKIP() << "needs 2 ranks";
  }
  const Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state();
  if (world().rank() == 1) {
    torch::rand({3});
  }
  const Tensor x = shard(torch::zeros({4}), line(), {Replicate()});

  EXPECT_THROW(x.uniform_(), Mismatch);
  EXPECT_THROW(distribute(line(), [] { return std::make_shared<torch::nn::LinearImpl>(2, 2); }), Mismatch);
  auto generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_state(before);
}

// The gradient of a mean is a scalar expanded to the whole: filling it would cost every rank a full batch.
TEST(Traps, GradientOfMeanIsNotFilled) {
  const Tensor x = shard(torch::randn({64, 100}, torch::kDouble), line(), {Shard(0)}).set_requires_grad(true);
  Tensor seen;
  Tensor y = x * 2;
  y.register_hook([&seen](const Tensor& gradient) { seen = gradient; });

  y.mean().backward();

  EXPECT_LE(local(seen).storage().nbytes(), sizeof(double) * 64 * 100 / world().size() + 64 * 8);
  EXPECT_TRUE(torch::allclose(full(x.grad()), torch::full({64, 100}, 2.0 / 6400, torch::kDouble)));
}

}  // namespace
}  // namespace renga::test
