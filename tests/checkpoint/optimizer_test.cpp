// SPDX-License-Identifier: Apache-2.0
// What optimizers remember: whole in the file, whatever the mesh, and as if training had never stopped.
#include <functional>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"
#include "renga/ops/ops.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"

#include "tests/checkpoint/error_of.hpp"
#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/shared_folder.hpp"
#include "tests/support/world.hpp"

namespace renga {
namespace {

using OptimizerPointer = std::unique_ptr<torch::optim::Optimizer>;
using MakeOptimizer = std::function<OptimizerPointer(std::vector<torch::Tensor>)>;

struct Kind {
  std::string name;
  MakeOptimizer make;
};

template <typename Optimizer, typename Options>
MakeOptimizer maker(Options options) {
  return [options](std::vector<torch::Tensor> parameters) {
    return std::make_unique<Optimizer>(std::move(parameters), options);
  };
}

// Every kind, with all that it can remember.
std::vector<Kind> kinds() {
  namespace optim = torch::optim;
  return {{"Adam", maker<optim::Adam>(optim::AdamOptions(0.01).amsgrad(true))},
          {"AdamW", maker<optim::AdamW>(optim::AdamWOptions(0.01))},
          {"SGD", maker<optim::SGD>(optim::SGDOptions(0.01).momentum(0.9))},
          {"SGD", maker<optim::SGD>(optim::SGDOptions(0.01))},
          {"RMSprop", maker<optim::RMSprop>(optim::RMSpropOptions(0.01).momentum(0.9).centered(true))},
          {"Adagrad", maker<optim::Adagrad>(optim::AdagradOptions(0.01).lr_decay(0.1))}};
}

struct Layer : torch::nn::Module {
  explicit Layer(const torch::Tensor& value) : weight(register_parameter("weight", value)) {}
  torch::Tensor weight;
};

/// A linear layer whose weight is cut as given, as a plan would cut it.
struct Net : torch::nn::Module {
  explicit Net(const DeviceMesh& mesh, const AxisDims& cut) {
    torch::manual_seed(3);
    const auto whole = [](torch::IntArrayRef sizes) { return torch::randn(sizes, torch::kDouble); };
    weight = register_module("layer", std::make_shared<Layer>(shard(whole({7, 5}), mesh, cut)))->weight;
    bias = register_parameter("bias", shard(whole({7}), mesh, AxisDims{}));
  }

  void train(torch::optim::Optimizer& optimizer, int from, int to) {
    for (int step = from; step < to; ++step) {
      torch::manual_seed(100 + step);
      const auto input = torch::randn({11, 5}, torch::kDouble);
      optimizer.zero_grad();
      (torch::linear(input, weight, bias) - 1).pow(2).mean().backward();
      optimizer.step();
    }
  }

  torch::Tensor weight;
  torch::Tensor bias;
};

DeviceMesh line() { return DeviceMesh(test::world(), {{"data", test::world().size()}}); }

TEST(OptimizerCheckpoint, TrainingGoesOnAsIfNeverInterrupted) {
  const SharedFolder folder(test::world());
  for (const AxisDims& cut : {AxisDims{}, AxisDims{{"data", 0}}}) {
    for (const auto& [name, make] : kinds()) {
      Net net(line(), cut);
      const auto optimizer = make(net.parameters());
      net.train(*optimizer, 0, 3);
      save(folder / "net", net);
      save(folder / "optimizer", *optimizer, net);
      net.train(*optimizer, 3, 6);

      Net other(line(), cut);
      const auto loaded = make(other.parameters());
      other.train(*loaded, 7, 8);  // other state, to be replaced
      load(folder / "net", other);
      load(folder / "optimizer", *loaded, other);
      other.train(*loaded, 3, 6);

      EXPECT_TRUE(torch::equal(full(net.weight), full(other.weight))) << name;
      EXPECT_TRUE(torch::equal(full(net.bias), full(other.bias))) << name;
    }
  }
}

TEST(OptimizerCheckpoint, TheFileHoldsWholeTensorsUnderTheParametersNames) {
  const SharedFolder folder(test::world());
  Net net(line(), {{"data", 0}});
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(0.01));
  net.train(optimizer, 0, 3);

  save(folder / "named", optimizer, net);
  save(folder / "numbered", optimizer);

  const auto named = load_tensors(folder / "named");
  const auto numbered = load_tensors(folder / "numbered");
  EXPECT_EQ(named.size(), 6U);
  EXPECT_EQ(named.at("layer.weight.exp_avg").sizes(), (torch::IntArrayRef{7, 5}));
  EXPECT_EQ(named.at("bias.exp_avg_sq").sizes(), (torch::IntArrayRef{7}));
  EXPECT_EQ(named.at("bias.step").item<std::int64_t>(), 3);
  EXPECT_TRUE(torch::equal(numbered.at("1.exp_avg"), named.at("layer.weight.exp_avg")));
  EXPECT_EQ(SafetensorsReader(folder / "named").metadata(),
            (Metadata{{"optimizer", "Adam"}, {"learning_rate.0", "0.01"}}));
}

TEST(OptimizerCheckpoint, StateTakesTheParametersPlacement) {
  const SharedFolder folder(test::world());
  Net split(line(), {{"data", 0}});
  torch::optim::Adam optimizer(split.parameters(), torch::optim::AdamOptions(0.01));
  split.train(optimizer, 0, 3);
  save(folder / "net", split);
  save(folder / "optimizer", optimizer, split);
  split.train(optimizer, 3, 5);

  Net columns(line(), {{"data", 1}});
  torch::optim::Adam loaded(columns.parameters(), torch::optim::AdamOptions(0.5));
  load(folder / "net", columns);
  load(folder / "optimizer", loaded, columns);
  columns.train(loaded, 3, 5);

  EXPECT_LT((full(split.weight) - full(columns.weight)).abs().max().item<double>(), 1e-13);
  EXPECT_EQ(loaded.param_groups()[0].options().get_lr(), 0.01);  // of the file
}

TEST(OptimizerCheckpoint, GroupsAndParametersWithoutStateComeBack) {
  const SharedFolder folder(test::world());
  Net net(line(), AxisDims{});
  using torch::optim::OptimizerParamGroup;
  const auto make = [](const Net& of, double first, double second) {
    std::vector<OptimizerParamGroup> groups{OptimizerParamGroup({of.bias}), OptimizerParamGroup({of.weight})};
    auto made = std::make_unique<torch::optim::Adam>(groups, torch::optim::AdamOptions(1.0));
    made->param_groups()[0].options().set_lr(first);
    made->param_groups()[1].options().set_lr(second);
    return made;
  };
  const auto saved = make(net, 0.1, 1.0 / 3.0);
  (net.bias * 2).sum().backward();
  saved->step();  // only one of them has a gradient
  Net other(line(), AxisDims{});
  const auto loaded = make(other, 1.0, 1.0);
  other.train(*loaded, 0, 1);

  save(folder / "o", *saved, net);
  load(folder / "o", *loaded, other);

  EXPECT_EQ(loaded->state().size(), 1U);
  EXPECT_EQ(loaded->param_groups()[0].options().get_lr(), 0.1);
  EXPECT_EQ(loaded->param_groups()[1].options().get_lr(), 1.0 / 3.0);
}

TEST(OptimizerCheckpoint, WhatDoesNotFitIsAnErrorOnEveryRankAndChangesNothing) {
  const SharedFolder folder(test::world());
  Net net(line(), AxisDims{});
  const auto all = kinds();
  const auto adam = all[1].make(net.parameters());  // AdamW
  net.train(*adam, 0, 2);
  save(folder / "adam", *adam, net);
  save(folder / "numbered", *adam);
  const auto sgd = all[2].make(net.parameters());
  const auto error = [&](const std::string& name, torch::optim::Optimizer& optimizer) {
    return error_of<FileError>([&] { load(folder / name, optimizer, net); });
  };
  const auto wrong = [&](const NamedTensors& tensors) {
    save_tensors(folder / "wrong", tensors, test::world());
    return error("wrong", *adam);
  };

  EXPECT_NE(error("adam", *sgd).find("optimizer: expected SGD, got AdamW"), std::string::npos);
  EXPECT_NE(error("numbered", *adam).find("got 6 tensors of others"), std::string::npos);
  EXPECT_NE(error("none", *adam).find("cannot open the file"), std::string::npos);
  EXPECT_NE(wrong({{"bias.step", torch::zeros({}, torch::kLong)}}).find("optimizer: expected AdamW, got none"),
            std::string::npos);
  torch::optim::AdamW half({net.bias}, torch::optim::AdamWOptions(0.1));
  EXPECT_NE(error("adam", half).find("got 3 tensors of others"), std::string::npos);
  EXPECT_EQ(adam->state().size(), 2U);
}

TEST(OptimizerCheckpoint, LbfgsAndForeignParametersAreRefused) {
  const SharedFolder folder(test::world());
  Net net(line(), AxisDims{});
  Net other(line(), AxisDims{});
  torch::optim::LBFGS lbfgs(net.parameters());
  torch::optim::SGD sgd(other.parameters(), 0.1);

  EXPECT_NE(error_of<InvalidArgument>([&] { save(folder / "o", lbfgs, net); }).find("LBFGS"), std::string::npos);
  EXPECT_NE(error_of<InvalidArgument>([&] { load(folder / "o", lbfgs); }).find("LBFGS"), std::string::npos);
  EXPECT_NE(error_of<InvalidArgument>([&] { save(folder / "o", sgd, net); }).find("not among the module's"),
            std::string::npos);
}

TEST(OptimizerCheckpoint, ASaveErrorIsThrownOnEveryRank) {
  const SharedFolder folder(test::world());
  Net net(line(), {{"data", 0}});
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(0.01));
  net.train(optimizer, 0, 1);
  std::string full_disk;
  {
    std::optional<FileSizeLimit> limit;
    if (test::world().rank() == 0) {
      limit.emplace(700);
    }
    full_disk = error_of<FileError>([&] { save(folder / "o", optimizer, net); });
  }

  EXPECT_EQ(full_disk, "write: " + (folder / "o") + ": cannot write: File too large");
  EXPECT_FALSE(std::filesystem::exists(folder / "o"));
}

}  // namespace
}  // namespace renga
