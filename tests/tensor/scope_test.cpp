// SPDX-License-Identifier: Apache-2.0
// Stock modules built in a scope: born distributed, with the values and the generator state of one process.
#include "renga/tensor/scope.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/ops/ops.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

using Make = std::function<std::shared_ptr<nn::Module>()>;

template <typename Holder>
Make making(Holder (*make)()) {
  return [make] { return std::static_pointer_cast<nn::Module>(make().ptr()); };
}

std::vector<std::pair<std::string, Make>> constructors() {
  return {
      {"Linear", making(+[] { return nn::Linear(7, 5); })},
      {"Bilinear", making(+[] { return nn::Bilinear(3, 4, 5); })},
      {"Conv1d", making(+[] { return nn::Conv1d(3, 4, 3); })},
      {"Conv2d", making(+[] { return nn::Conv2d(nn::Conv2dOptions(4, 6, 3).groups(2)); })},
      {"Conv3d", making(+[] { return nn::Conv3d(2, 3, 3); })},
      {"ConvTranspose2d", making(+[] { return nn::ConvTranspose2d(3, 4, 4); })},
      {"BatchNorm1d", making(+[] { return nn::BatchNorm1d(5); })},
      {"BatchNorm2d", making(+[] { return nn::BatchNorm2d(nn::BatchNorm2dOptions(5).affine(false)); })},
      {"InstanceNorm2d", making(+[] { return nn::InstanceNorm2d(nn::InstanceNorm2dOptions(5).affine(true)); })},
      {"LayerNorm", making(+[] {
         return nn::LayerNorm(nn::LayerNormOptions({4, 5}));
       })},
      {"GroupNorm", making(+[] { return nn::GroupNorm(2, 4); })},
      {"Embedding", making(+[] { return nn::Embedding(nn::EmbeddingOptions(9, 4).padding_idx(2)); })},
      {"EmbeddingBag", making(+[] { return nn::EmbeddingBag(9, 4); })},
      {"RNN", making(+[] { return nn::RNN(nn::RNNOptions(3, 4).num_layers(2)); })},
      {"LSTM", making(+[] { return nn::LSTM(nn::LSTMOptions(3, 4).bidirectional(true)); })},
      {"GRUCell", making(+[] { return nn::GRUCell(3, 4); })},
      {"PReLU", making(+[] { return nn::PReLU(); })},
      {"MultiheadAttention", making(+[] { return nn::MultiheadAttention(8, 2); })},
      {"TransformerEncoderLayer", making(+[] { return nn::TransformerEncoderLayer(8, 2); })},
      {"Sequential", making(+[] { return nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2)); })},
  };
}

TEST(Scope, ModulesAreBornWithTheValuesOfOneProcess) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});
  for (const auto& [name, make] : constructors()) {
    torch::manual_seed(21);
    const auto plain = make();
    const Tensor after_plain = torch::rand({1});
    torch::manual_seed(21);
    std::shared_ptr<nn::Module> born;
    {
      const Scope scope(mesh);
      born = make();
    }
    const Tensor after_born = torch::rand({1});

    EXPECT_TRUE(torch::equal(after_plain, after_born)) << name << ": the generator ends in another state";
    const auto expected = plain->named_parameters();
    for (const auto& item : born->named_parameters()) {
      EXPECT_TRUE(is_dtensor(item.value())) << name << "." << item.key();
      EXPECT_TRUE(torch::equal(full(item.value()), expected[item.key()])) << name << "." << item.key();
      EXPECT_TRUE(item.value().requires_grad());
    }
    const auto buffers = plain->named_buffers();
    for (const auto& item : born->named_buffers()) {
      if (item.value().defined()) {
        EXPECT_TRUE(is_dtensor(item.value())) << name << "." << item.key();
        EXPECT_TRUE(torch::equal(full(item.value()), buffers[item.key()])) << name << "." << item.key();
      }
    }
  }
}

TEST(Scope, EndsWithTheObject) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});
  {
    const Scope scope(mesh);
    EXPECT_TRUE(is_dtensor(torch::zeros({3})));
    {
      const Scope inner(mesh);
      EXPECT_TRUE(is_dtensor(torch::randn({2, 2})));
    }
    EXPECT_TRUE(is_dtensor(torch::arange(4)));
  }
  EXPECT_FALSE(is_dtensor(torch::zeros({3})));
}

TEST(Scope, ConversionsKeepAModuleDistributed) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});
  nn::Linear net(nullptr);
  {
    const Scope scope(mesh);
    net = nn::Linear(3, 2);
  }
  net->to(torch::kDouble);
  net->train(false);
  net->zero_grad();

  EXPECT_TRUE(is_dtensor(net->weight));
  EXPECT_EQ(net->weight.scalar_type(), torch::kDouble);
}

}  // namespace
}  // namespace renga::test
