// SPDX-License-Identifier: Apache-2.0
// What we write, another reader of the format reads alike.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/core/text.hpp"

#include "tests/checkpoint/small_net.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

void write_values(std::ostream& out, const at::Tensor& tensor) {
  const auto real = tensor.is_complex() ? torch::view_as_real(tensor) : tensor;
  const auto values = real.to(at::kDouble).contiguous().view(-1);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    out << (i == 0 ? "" : ", ") << values[i].item<double>();
  }
}

void write_expected(const std::string& path, const NamedTensors& tensors) {
  std::ofstream out(path);
  out.precision(17);
  const char* separator = "{";
  for (const auto& [name, tensor] : tensors) {
    std::ostringstream shape;
    shape << tensor.sizes();
    out << separator << '"' << name << "\": {\"shape\": " << shape.str() << ", \"values\": [";
    write_values(out, tensor);
    out << "]}\n";
    separator = ",";
  }
  out << "}\n";
}

int run_reader(const TemporaryFolder& folder, const NamedTensors& expected) {
  write_expected(folder / "expected.json", expected);
  const std::string command = text(RENGA_PYTHON " " RENGA_READER " ", folder / "file", " ", folder / "expected.json");
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(Python, ReadsEveryDtypeAndShape) {
  const TemporaryFolder folder;
  NamedTensors tensors{{"scalar", torch::tensor(2.5)},
                       {"empty", torch::empty({3, 0, 5})},
                       {"transposed", torch::randn({4, 3}).t()},
                       {"channels last", torch::randn({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast)}};
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                           at::kChar, at::kByte, at::kBool, at::kComplexFloat}) {
    tensors[c10::toString(dtype)] = (torch::randn({3, 5}) * 10).to(dtype);
  }

  save_tensors(folder / "file", tensors);

  EXPECT_EQ(run_reader(folder, tensors), 0);
}

TEST(Python, ReadsAModule) {
  const TemporaryFolder folder;
  SmallNet net;

  save(folder / "file", net);

  EXPECT_EQ(run_reader(folder, load_tensors(folder / "file")), 0);
}

TEST(Python, TheComparisonCanFail) {
  const TemporaryFolder folder;
  save_tensors(folder / "file", {{"x", torch::tensor({1.0, 2.0})}});

  EXPECT_EQ(run_reader(folder, {{"x", torch::tensor({1.0, 3.0})}}), 3);
  EXPECT_EQ(run_reader(folder, {{"y", torch::tensor({1.0, 2.0})}}), 3);
  EXPECT_EQ(run_reader(folder, {{"x", torch::tensor({1.0, 2.0})}}), 0);
}

}  // namespace
}  // namespace renga
