// SPDX-License-Identifier: Apache-2.0
// Whole modules in one process.
#include "renga/checkpoint/checkpoint.hpp"

#include <functional>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"

#include "tests/checkpoint/error_of.hpp"
#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/small_net.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

void expect_equal_modules(const torch::nn::Module& got, const torch::nn::Module& expected) {
  const auto expected_parameters = expected.named_parameters();
  for (const auto& item : got.named_parameters()) {
    EXPECT_TRUE(torch::equal(item.value(), expected_parameters[item.key()])) << item.key();
  }
  const auto expected_buffers = expected.named_buffers();
  for (const auto& item : got.named_buffers()) {
    if (item.value().defined()) {
      EXPECT_TRUE(torch::equal(item.value(), expected_buffers[item.key()])) << item.key();
    }
  }
}

TEST(Checkpoint, AModuleComesBackWithParametersAndBuffers) {
  const TemporaryFolder folder;
  SmallNet saved;
  saved.forward(torch::randn({4, 3, 6, 6}));  // moves the running statistics
  SmallNet loaded;

  save(folder / "m.safetensors", saved);
  load(folder / "m.safetensors", loaded);

  expect_equal_modules(loaded, saved);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.safetensors"});
}

TEST(Checkpoint, LoadingKeepsTheTensorObjects) {
  const TemporaryFolder folder;
  SmallNet saved;
  SmallNet loaded;
  const at::Tensor weight = loaded.conv->weight;
  save(folder / "m", saved);

  load(folder / "m", loaded);

  EXPECT_TRUE(torch::equal(weight, saved.conv->weight));
  EXPECT_TRUE(weight.is_leaf());
  EXPECT_TRUE(weight.requires_grad());
}

TEST(Checkpoint, NamesAreLibTorchsAndEveryTensorIsAligned) {
  const TemporaryFolder folder;
  SmallNet net;

  save(folder / "m", net);

  const SafetensorsReader reader(folder / "m");
  std::vector<std::string> names;
  std::size_t offset = 0;
  for (const TensorInfo& info : reader.tensors()) {
    names.push_back(info.name);
    const std::size_t element = c10::elementSize(info.dtype);
    EXPECT_EQ(offset % element, 0U) << info.name;
    offset += element * static_cast<std::size_t>(c10::multiply_integers(info.sizes));
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"conv.weight", "flags", "free.bias", "free.weight", "linear.bias",
                                             "linear.weight", "norm.bias", "norm.num_batches_tracked",
                                             "norm.running_mean", "norm.running_var", "norm.weight", "tied"}));
}

TEST(Checkpoint, ATiedTensorIsWrittenUnderBothNames) {
  const TemporaryFolder folder;
  SmallNet net;

  save(folder / "m", net);

  const auto tensors = load_tensors(folder / "m");
  EXPECT_TRUE(torch::equal(tensors.at("tied"), tensors.at("linear.weight")));
}

TEST(Checkpoint, DtypesAreConverted) {
  const TemporaryFolder folder;
  SmallNet saved;
  SmallNet loaded;
  loaded.to(at::kDouble);

  save(folder / "m", saved);
  load(folder / "m", loaded);

  EXPECT_EQ(loaded.conv->weight.scalar_type(), at::kDouble);
  EXPECT_TRUE(torch::equal(loaded.conv->weight, saved.conv->weight.to(at::kDouble)));
}

TEST(Checkpoint, AFileThatDoesNotFitIsOneErrorAndChangesNothing) {
  const TemporaryFolder folder;
  SmallNet net;
  const at::Tensor before = net.conv->weight.detach().clone();
  save(folder / "m", net);
  auto tensors = load_tensors(folder / "m");
  tensors["conv.weight"] = torch::zeros({4, 3, 3, 3});
  tensors["stranger"] = torch::zeros(1);
  tensors["norm.weight"] = torch::zeros(7);
  tensors["flags"] = torch::zeros(3);  // float cannot become bool
  tensors.erase("linear.bias");
  save_tensors(folder / "other", tensors);

  const std::string message = error_of([&] { load(folder / "other", net); });

  EXPECT_EQ(message, "read: " + (folder / "other") +
                         ": does not fit the module; missing in the file: linear.bias; not in the "
                         "module: stranger; of another shape or kind: norm.weight (file [7], module "
                         "[4]), flags (file Float, module Bool)");
  EXPECT_TRUE(torch::equal(net.conv->weight, before));
}

TEST(Checkpoint, LongListsOfNamesAreCut) {
  const TemporaryFolder folder;
  NamedTensors tensors;
  for (int i = 0; i < 30; ++i) {
    tensors["x" + std::to_string(100 + i)] = torch::zeros(1);
  }
  save_tensors(folder / "m", tensors);
  torch::nn::Sequential nothing;

  const std::string message = error_of([&] { load(folder / "m", *nothing); });

  EXPECT_NE(message.find("x109 and 20 more"), std::string::npos) << message;
}

TEST(Checkpoint, SaveErrorsNameThePathAndLeaveNothing) {
  const TemporaryFolder folder;
  SmallNet net;

  EXPECT_EQ(error_of([&] { save(folder / "none/m", net); }),
            "write: " + (folder / "none/m") + ": cannot create the file: No such file or directory");
  save(folder / "m", net);
  const auto size = std::filesystem::file_size(folder / "m");
  std::filesystem::remove(folder / "m");
  {
    const FileSizeLimit limit(size - 10);
    EXPECT_EQ(error_of([&] { save(folder / "m", net); }),
              "write: " + (folder / "m") + ": cannot write: File too large");
  }
  EXPECT_THROW(save_tensors(folder / "m", {{"x", torch::zeros(1, at::kComplexDouble)}}), InvalidArgument);
  EXPECT_THROW(save_tensors(folder / "m", {{"x", torch::eye(2).to_sparse()}}), InvalidArgument);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Checkpoint, PlainTensorsRoundTrip) {
  const TemporaryFolder folder;
  const NamedTensors tensors{{"a", torch::randn({2, 3})}, {"b", torch::arange(5)}, {"c", torch::empty(0)}};

  save_tensors(folder / "t", tensors);
  const auto loaded = load_tensors(folder / "t");

  ASSERT_EQ(loaded.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(torch::equal(loaded.at(name), tensor)) << name;
  }
}

}  // namespace
}  // namespace renga
