// SPDX-License-Identifier: Apache-2.0
#include "renga/checkpoint/safetensors.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"

#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

using Pairs = std::vector<std::pair<std::string, at::Tensor>>;

std::vector<TensorInfo> infos_of(const Pairs& tensors) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    infos.push_back({name, tensor.scalar_type(), tensor.sizes().vec()});
  }
  return infos;
}

void write(const std::string& path, const Pairs& tensors, const Metadata& metadata = {}) {
  SafetensorsWriter writer(path, infos_of(tensors), metadata);
  for (const auto& [name, tensor] : tensors) {
    writer.add(tensor);
  }
  writer.commit();
}

void expect_same(const at::Tensor& got, const at::Tensor& expected, const std::string& name) {
  ASSERT_EQ(got.scalar_type(), expected.scalar_type()) << name;
  ASSERT_EQ(got.sizes(), expected.sizes()) << name;
  EXPECT_TRUE(got.is_contiguous()) << name;
  EXPECT_TRUE(torch::equal(got, expected)) << name;
}

TEST(Safetensors, EveryDtypeRoundTrips) {
  const TemporaryFolder folder;
  Pairs tensors;
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort,
                           at::kChar, at::kByte, at::kBool, at::kComplexFloat}) {
    tensors.emplace_back(c10::toString(dtype), (torch::randn({3, 5}) * 50).to(dtype));
  }

  write(folder / "a", tensors);
  const SafetensorsReader reader(folder / "a");

  for (const auto& [name, tensor] : tensors) {
    expect_same(reader.read(name), tensor, name);
  }
}

TEST(Safetensors, ExtremeValuesKeepTheirBits) {
  const TemporaryFolder folder;
  const auto values =
      torch::tensor({std::numeric_limits<double>::infinity(), -0.0, std::numeric_limits<double>::denorm_min(),
                     std::numeric_limits<double>::quiet_NaN()},
                    at::kDouble);

  write(folder / "a", {{"x", values}});

  const auto got = SafetensorsReader(folder / "a").read("x");
  EXPECT_EQ(std::memcmp(got.data_ptr(), values.data_ptr(), values.nbytes()), 0);
}

TEST(Safetensors, ScalarsEmptyAndStridedTensorsRoundTrip) {
  const TemporaryFolder folder;
  const auto base = torch::randn({4, 6, 5, 3});
  const auto complex = torch::randn({2, 3}, at::kComplexFloat);
  const Pairs tensors{{"scalar", torch::tensor(2.5)},
                      {"empty", torch::empty({0})},
                      {"empty in the middle", torch::empty({3, 0, 5})},
                      {"transposed", base.permute({2, 0, 3, 1})},
                      {"part", base.slice(1, 1, 6, 2)},
                      {"channels last", base.contiguous(at::MemoryFormat::ChannelsLast)},
                      {"expanded", torch::randn({1, 3}).expand({4, 3})},
                      {"conjugate", torch::conj(complex)},
                      {"last empty", torch::empty({0, 7})}};

  write(folder / "a", tensors);
  const SafetensorsReader reader(folder / "a");

  for (const auto& [name, tensor] : tensors) {
    expect_same(reader.read(name), tensor, name);
  }
  EXPECT_EQ(reader.tensors().size(), tensors.size());
}

TEST(Safetensors, NamesAndMetadataMayHoldAnyText) {
  const TemporaryFolder folder;
  const std::string name = "layer.0 \"quoted\"\\ \n \xE9\x80\xA3\xE6\xAD\x8C";
  const Metadata metadata{{"format", "pt"}, {"a \"key\"", "\n\xE9\x80\xA3"}};

  write(folder / "a", {{name, torch::ones(2)}, {"", torch::zeros(1)}}, metadata);
  const SafetensorsReader reader(folder / "a");

  EXPECT_EQ(reader.tensors()[0].name, name);
  EXPECT_TRUE(reader.contains(""));
  EXPECT_EQ(reader.metadata(), metadata);
}

TEST(Safetensors, AFileWithoutTensorsIsValid) {
  const TemporaryFolder folder;

  write(folder / "a", {});

  EXPECT_TRUE(SafetensorsReader(folder / "a").tensors().empty());
}

TEST(Safetensors, TheLayoutIsThatOfTheFormat) {
  const TemporaryFolder folder;

  write(folder / "a", {{"w", torch::tensor({1.0F, 2.0F})}, {"n", torch::tensor(7, at::kByte)}});

  const std::string json = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                           R"("n":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})";
  std::string expected(8, '\0');
  expected[0] = static_cast<char>((json.size() + 7) / 8 * 8);
  expected += json + std::string((8 - json.size() % 8) % 8, ' ');
  expected += std::string("\0\0\x80\x3F\0\0\0\x40\x07", 9);
  EXPECT_EQ(read_bytes(folder / "a"), expected);
}

TEST(Safetensors, TheWriterRefusesWhatTheFormatLacks) {
  const TemporaryFolder folder;
  const auto open = [&](const std::vector<TensorInfo>& infos) { SafetensorsWriter writer(folder / "a", infos); };

  EXPECT_THROW(open({{"x", at::kFloat, {1}}, {"x", at::kFloat, {1}}}), InvalidArgument);
  EXPECT_THROW(open({{"__metadata__", at::kFloat, {1}}}), InvalidArgument);
  EXPECT_THROW(open({{"x\xFF", at::kFloat, {1}}}), InvalidArgument);
  EXPECT_THROW(open({{"x", at::kComplexDouble, {1}}}), InvalidArgument);
  EXPECT_THROW(open({{"x", at::kFloat, {-1}}}), InvalidArgument);
  EXPECT_THROW(open({{"x", at::kFloat, {1L << 62, 1L << 62}}}), InvalidArgument);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Safetensors, TheWriterTakesTheListedTensorsOnlyAndAll) {
  const TemporaryFolder folder;

  {
    SafetensorsWriter writer(folder / "a", {{"x", at::kFloat, {2}}});
    EXPECT_THROW(writer.add(torch::zeros({2}, at::kDouble)), InvalidArgument);
    EXPECT_THROW(writer.add(torch::zeros({1, 2})), InvalidArgument);
    EXPECT_THROW(writer.commit(), InvalidArgument);
    writer.add(torch::zeros(2));
    EXPECT_THROW(writer.add(torch::zeros(2)), InvalidArgument);
  }

  EXPECT_TRUE(folder.names().empty());
}

TEST(Safetensors, AFullDiskIsAnErrorThatLeavesNothing) {
  const TemporaryFolder folder;
  const FileSizeLimit limit(10000);

  EXPECT_THROW(write(folder / "a", {{"x", torch::zeros(1000)}, {"y", torch::zeros(9000)}}), FileError);

  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace renga
