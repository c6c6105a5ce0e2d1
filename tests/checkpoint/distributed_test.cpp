// SPDX-License-Identifier: Apache-2.0
// Checkpoints of distributed tensors: whole in the file, whatever the mesh.
#include "renga/tensor/distributed.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/core/error.hpp"
#include "renga/ops/ops.hpp"
#include "renga/tensor/scope.hpp"

#include "tests/checkpoint/error_of.hpp"
#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/shared_folder.hpp"
#include "tests/checkpoint/small_net.hpp"
#include "tests/support/world.hpp"

namespace renga {
namespace {

/// A module that holds the given tensors as parameters (floating) or buffers.
struct Holder : torch::nn::Module {
  explicit Holder(const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors) {
      if (tensor.is_floating_point()) {
        register_parameter(name, tensor);
      } else {
        register_buffer(name, tensor);
      }
    }
  }
};

// Sizes that divide by nothing, fewer rows than ranks, no rows, no dims.
NamedTensors whole_tensors() {
  return {{"rows", torch::arange(21, at::kDouble).view({7, 3})},
          {"columns", torch::arange(15, at::kLong).view({3, 5})},
          {"few", torch::arange(6, at::kFloat).view({2, 3})},
          {"none", torch::empty({0, 3})},
          {"flags", torch::arange(5) % 2 == 0},
          {"scalar", torch::tensor(2.5)},
          {"image", torch::arange(90, at::kFloat).view({1, 2, 9, 5}).contiguous(at::MemoryFormat::ChannelsLast)}};
}

NamedTensors split(const NamedTensors& whole, const DeviceMesh& mesh, const std::string& axis) {
  NamedTensors out;
  for (const auto& [name, tensor] : whole) {
    const std::int64_t dim = name == "columns" ? 1 : name == "image" ? 2 : 0;
    out[name] = shard(tensor, mesh, name == "scalar" ? AxisDims{} : AxisDims{{axis, dim}});
  }
  return out;
}

void expect_values(const NamedTensors& got, const NamedTensors& expected) {
  EXPECT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    const at::Tensor value = full(got.at(name));
    EXPECT_EQ(value.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(torch::equal(value, tensor)) << name;
  }
}

DeviceMesh line() { return DeviceMesh(test::world(), {{"data", test::world().size()}}); }

TEST(Checkpoint, SplitTensorsAreWrittenWhole) {
  const SharedFolder folder(test::world());
  const auto whole = whole_tensors();

  save(folder / "m", Holder(split(whole, line(), "data")));

  expect_values(load_tensors(folder / "m"), whole);
}

TEST(Checkpoint, TheFileIsTheSameOnEveryMesh) {
  const SharedFolder folder(test::world());
  const Communicator world = test::world();
  const DeviceMesh plane = world.size() == 4 ? DeviceMesh(world, {{"data", 2}, {"height", 2}})
                                             : DeviceMesh(world, {{"height", world.size()}});
  const auto whole = whole_tensors();

  save(folder / "plain", Holder(whole), world);
  save(folder / "line", Holder(split(whole, line(), "data")));
  save(folder / "plane", Holder(split(whole, plane, "height")));

  EXPECT_EQ(read_bytes(folder / "line"), read_bytes(folder / "plain"));
  EXPECT_EQ(read_bytes(folder / "plane"), read_bytes(folder / "plain"));
}

TEST(Checkpoint, LoadsIntoAnyPlacement) {
  const SharedFolder folder(test::world());
  const DeviceMesh mesh = line();
  const auto value = torch::arange(35, at::kDouble).view({7, 5});
  const auto zeros = torch::zeros({7, 5});  // another dtype, too
  save_tensors(folder / "m", {{"a", shard(value, mesh, {{"data", 0}})},
                              {"b", shard(value + 1, mesh, {{"data", 1}})},
                              {"c", shard(value + 2, mesh, AxisDims{})},
                              {"d", value + 3}});
  const NamedTensors targets{{"a", shard(zeros, mesh, {{"data", 1}})},
                             {"b", shard(zeros, mesh, AxisDims{})},
                             {"c", zeros.clone()},
                             {"d", shard(zeros, mesh, {{"data", 0}})}};
  Holder module(targets);

  load(folder / "m", module);

  const auto expected = value.to(at::kFloat);
  expect_values(targets, {{"a", expected}, {"b", expected + 1}, {"c", expected + 2}, {"d", expected + 3}});
}

TEST(Checkpoint, AStockModuleBornDistributedComesBack) {
  const SharedFolder folder(test::world());
  const DeviceMesh mesh = line();
  torch::manual_seed(3);
  SmallNet plain;
  torch::manual_seed(3);
  std::shared_ptr<SmallNet> net;
  std::shared_ptr<SmallNet> other;
  {
    const Scope scope(mesh);
    net = std::make_shared<SmallNet>();
    other = std::make_shared<SmallNet>();
  }

  save(folder / "m", *net);
  load(folder / "m", *other);

  const auto expected = plain.named_parameters();
  for (const auto& item : other->named_parameters()) {
    EXPECT_TRUE(torch::equal(full(item.value()), expected[item.key()])) << item.key();
  }
}

TEST(Checkpoint, ASumIsAddedRightAfterLoading) {
  const SharedFolder folder(test::world());
  const DeviceMesh mesh = line();
  save_tensors(folder / "m", {{"x", torch::ones({4})}}, test::world());
  const auto x = zeros(mesh, {4}, {Replicate()});
  Holder module({{"x", x}});
  const torch::NoGradGuard no_grad;
  x.zero_();

  load(folder / "m", module);
  x.add_(shard(torch::ones({3, 4}), mesh, {{"data", 0}}).sum(0));

  EXPECT_TRUE(torch::equal(full(x), torch::full({4}, 4.0)));
}

TEST(Checkpoint, ASaveErrorIsThrownOnEveryRankAndTheWorldGoesOn) {
  const SharedFolder folder(test::world());
  const Holder module(split(whole_tensors(), line(), "data"));
  save(folder / "file", module);
  const auto size = std::filesystem::file_size(folder / "file");

  const std::string below_a_file = error_of<FileError>([&] { save(folder / "file/m", module); });
  std::string full_disk;
  {
    std::optional<FileSizeLimit> limit;
    if (test::world().rank() == 0) {
      limit.emplace(size - 20);
    }
    full_disk = error_of<FileError>([&] { save(folder / "m", module); });
  }
  save(folder / "again", module);

  EXPECT_EQ(below_a_file, "write: " + (folder / "file/m") + ": cannot create the file: Not a directory");
  EXPECT_EQ(full_disk, "write: " + (folder / "m") + ": cannot write: File too large");
  test::world().barrier();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_TRUE(entry.path().filename() == "file" || entry.path().filename() == "again") << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 2U);
}

TEST(Checkpoint, ALoadErrorOfOneRankIsThrownOnEveryRank) {
  const SharedFolder folder(test::world());
  const Communicator world = test::world();
  const auto tensors = split(whole_tensors(), line(), "data");
  Holder module(tensors);
  save(folder / "m", module);
  const bool is_last = world.rank() == world.size() - 1;

  const std::string one = error_of<FileError>([&] { load(is_last ? folder / "none" : folder / "m", module); });
  const std::string all = error_of<FileError>([&] { load(folder / "none", module); });

  EXPECT_NE(one.find("none: cannot open the file"), std::string::npos) << one;
  if (world.size() > 1) {
    EXPECT_EQ(one.rfind("on rank " + std::to_string(world.size() - 1) + ": ", 0), 0U) << one;
  }
  EXPECT_EQ(all.rfind("read: ", 0), 0U) << all;
  expect_values(tensors, whole_tensors());
}

TEST(Checkpoint, TensorsOfTwoMeshesAreRefusedBeforeAnythingIsSent) {
  const SharedFolder folder(test::world());
  const auto value = torch::zeros({4});
  const DeviceMesh other(test::world(), {{"height", test::world().size()}});
  Holder module({{"a", shard(value, line(), AxisDims{})}, {"b", shard(value, other, AxisDims{})}});

  EXPECT_THROW(save(folder / "m", module), InvalidArgument);
  EXPECT_THROW(load(folder / "m", module), InvalidArgument);
}

}  // namespace
}  // namespace renga
