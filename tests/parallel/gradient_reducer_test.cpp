// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/gradient_reducer.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/state.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

using torch::Tensor;

DeviceMesh line() { return {world(), {{"data", world().size()}}}; }

// Three layers; the middle one is used only when asked for.
struct Net : torch::nn::Module {
  Net() : first(4, 8), middle(8, 8), last(8, 2) {
    register_module("first", first);
    register_module("middle", middle);
    register_module("last", last);
    to(torch::kDouble);
  }
  Tensor forward(Tensor x, int middles = 1) {
    x = torch::tanh(first(x));
    for (int i = 0; i < middles; ++i) {
      x = torch::tanh(middle(x));
    }
    return last(x);
  }
  torch::nn::Linear first, middle, last;
};

struct Pair {
  std::shared_ptr<Net> plain, split;
  std::shared_ptr<GradientReducer> reducer;
  Tensor x, split_x;
};

Pair make_pair(std::int64_t alone_bytes, std::int64_t samples = 7) {
  Pair pair;
  torch::manual_seed(2);
  pair.plain = std::make_shared<Net>();
  torch::manual_seed(2);
  {
    const Scope scope(line());
    pair.split = std::make_shared<Net>();
  }
  ReducerOptions options;
  options.alone_bytes = alone_bytes;
  pair.reducer = std::make_shared<GradientReducer>(pair.split->parameters(), options);
  pair.x = torch::randn({samples, 4}, torch::kDouble);
  pair.split_x = shard(pair.x, line(), {Shard(0)});
  return pair;
}

void expect_same_gradients(const Pair& pair, const std::string& when) {
  const auto expected = pair.plain->named_parameters();
  for (const auto& item : pair.split->named_parameters()) {
    const Tensor& wanted = expected[item.key()].grad();
    ASSERT_EQ(item.value().grad().defined(), wanted.defined()) << when << ": " << item.key();
    if (wanted.defined()) {
      EXPECT_TRUE(torch::allclose(full(item.value().grad()), wanted, 1e-12, 1e-14)) << when << ": " << item.key();
    }
  }
}

/// From how many bytes on a gradient is reduced by itself, where it lies: all of them, the largest, none.
class EveryBuffer : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(AloneFrom, EveryBuffer, testing::Values(1, 300, 1 << 18));

template <typename Step>
void on_both(const Pair& pair, Step step) {
  step(*pair.plain, pair.x);
  step(*pair.split, pair.split_x);
}

TEST_P(EveryBuffer, ManySteps) {
  const Pair pair = make_pair(GetParam());
  for (int i = 0; i < 4; ++i) {
    on_both(pair, [](Net& net, const Tensor& x) {
      net.zero_grad();
      net.forward(x).square().mean().backward();
    });
    expect_same_gradients(pair, "step " + std::to_string(i));
  }
}

TEST_P(EveryBuffer, SeveralBackwardsBeforeAStep) {
  const Pair pair = make_pair(GetParam());
  on_both(pair, [](Net& net, const Tensor& x) {
    for (int i = 0; i < 3; ++i) {
      net.forward(x).square().mean().backward();
      net.forward(x, 2).sum().backward();
    }
  });
  expect_same_gradients(pair, "accumulated");
}

TEST_P(EveryBuffer, SharedAndUnusedLayers) {
  const Pair pair = make_pair(GetParam());
  for (const int middles : {1, 3, 0, 2, 0}) {
    on_both(pair, [middles](Net& net, const Tensor& x) {
      for (auto& parameter : net.parameters()) {
        parameter.mutable_grad().reset();
      }
      net.forward(x, middles).square().sum().backward();
    });
    expect_same_gradients(pair, std::to_string(middles) + " uses");
  }
}

TEST_P(EveryBuffer, FrozenAndThawed) {
  const Pair pair = make_pair(GetParam());
  for (const bool trained : {true, false, false, true}) {
    on_both(pair, [trained](Net& net, const Tensor& x) {
      net.middle->weight.set_requires_grad(trained);
      net.zero_grad();
      net.forward(x).square().mean().backward();
    });
    expect_same_gradients(pair, trained ? "trained" : "frozen");
  }
}

TEST_P(EveryBuffer, ZeroedAndDroppedGradients) {
  const Pair pair = make_pair(GetParam());
  for (const bool drop : {false, true, false, false, true, true}) {
    on_both(pair, [drop](Net& net, const Tensor& x) {
      for (auto& parameter : net.parameters()) {
        if (drop) {
          parameter.mutable_grad().reset();
        } else if (parameter.grad().defined()) {
          parameter.mutable_grad().zero_();
        }
      }
      net.forward(x).square().mean().backward();
    });
    expect_same_gradients(pair, drop ? "dropped" : "zeroed");
  }
}

TEST_P(EveryBuffer, AKeptGradientIsNotOverwritten) {
  const Pair pair = make_pair(GetParam());
  Tensor kept;
  Tensor expected;
  for (int i = 0; i < 3; ++i) {
    for (auto& parameter : pair.split->parameters()) {
      parameter.mutable_grad().reset();
    }
    pair.split->forward(pair.split_x * (i + 1)).square().mean().backward();
    if (i == 0) {
      kept = pair.split->first->weight.grad();
      expected = full(kept).clone();
    }
  }
  EXPECT_TRUE(torch::equal(full(kept), expected));
}

TEST_P(EveryBuffer, TwoModelsInTurn) {
  const Pair a = make_pair(GetParam());
  const Pair b = make_pair(GetParam(), 5);
  for (int i = 0; i < 3; ++i) {
    on_both(a, [](Net& net, const Tensor& x) {
      net.zero_grad();
      net.forward(x).square().mean().backward();
    });
    on_both(b, [](Net& net, const Tensor& x) {
      net.zero_grad();
      net.forward(x, 2).sum().backward();
    });
    expect_same_gradients(a, "first model");
    expect_same_gradients(b, "second model");
  }
}

TEST_P(EveryBuffer, ABackwardThatThrowsDoesNotSpoilTheNext) {
  const Pair pair = make_pair(GetParam());
  for (int i = 0; i < 2; ++i) {
    Tensor h = pair.split->forward(pair.split_x);
    Tensor bad = pair.split->first(pair.split_x);
    bad.register_hook([](const Tensor& gradient) -> Tensor {
      throw std::runtime_error("in backward");
      return gradient;
    });
    EXPECT_THROW((h.sum() + bad.sum()).backward(), std::exception);
    on_both(pair, [](Net& net, const Tensor& x) {
      for (auto& parameter : net.parameters()) {
        parameter.mutable_grad().reset();
      }
      net.forward(x).square().mean().backward();
    });
    expect_same_gradients(pair, "after an exception");
  }
}

TEST(GradientReducer, OneLayoutThenOneReductionABucket) {
  if (world().size() == 1) {
    GTEST_SKIP() << "needs 2 ranks";
  }
  std::shared_ptr<Net> net;
  {
    const Scope scope(line());
    net = std::make_shared<Net>();
  }
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{25} << 20}) {
    ReducerOptions options;
    options.first_bucket_bytes = bytes;
    options.bucket_bytes = bytes;
    const GradientReducer reducer(net->parameters(), options);
    const Tensor x = shard(torch::randn({6, 4}, torch::kDouble), line(), {Shard(0)});
    for (int i = 0; i < 3; ++i) {
      net->zero_grad();
      net->forward(x).square().sum().backward();
    }
    const auto statistics = reducer.statistics();

    EXPECT_EQ(statistics.rebuilds, 1);
    EXPECT_EQ(statistics.buckets, bytes == 1 ? 6 : 1);
    EXPECT_EQ(statistics.launches, 3 * statistics.buckets);
  }
}

TEST(Distribute, ALayerBuiltDifferentlyIsNamedOnEveryRank) {
  if (world().size() == 1) {
    GTEST_SKIP() << "needs 2 ranks";
  }
  const Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state();
  std::string message;
  try {
    distribute(line(), [] { return torch::nn::Linear(4, world().rank() == 1 ? 5 : 6); });
  } catch (const Mismatch& error) {
    message = error.what();
  }
  auto generator = at::globalContext().defaultGenerator(at::kCPU);
  generator.set_state(before);

  // With RENGA_CHECK=1 the generators' states give it away before the module is done.
  const std::string words = world().settings().check
                                ? "state of the random generator"
                                : "parameter weight Float [6, 4], rank 1 has parameter weight Float [5, 4]";
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(Distribute, TakesHoldersAndPointers) {
  const auto holder = distribute(line(), [] { return torch::nn::Linear(4, 5); });
  const auto pointer = distribute(line(), [] { return std::make_shared<torch::nn::LinearImpl>(4, 5); });

  EXPECT_TRUE(is_dtensor(holder->weight));
  EXPECT_TRUE(is_dtensor(pointer->weight));
}

}  // namespace
}  // namespace renga::test
