// SPDX-License-Identifier: Apache-2.0
// Damaged files: each must be an error that names the file and says what is wrong.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"

#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

std::string with_header(const std::string& json, std::size_t data_bytes) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<char>((json.size() >> (8 * i)) & 0xFF);
  }
  return bytes + json + std::string(data_bytes, '\1');
}

class SafetensorsDamage : public testing::Test {
 protected:
  /// Expects an error whose message names the file and holds `part`.
  void expect_error(const std::string& bytes, const std::string& part) {
    write_bytes(path_, bytes);
    try {
      const SafetensorsReader reader(path_);
      ADD_FAILURE() << "accepted: expected an error with: " << part;
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()).rfind("read: " + path_ + ": ", 0), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  void expect_header_error(const std::string& json, const std::string& part) {
    expect_error(with_header(json, 8), part);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "a.safetensors";
};

constexpr const char* kGood = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST_F(SafetensorsDamage, TheGoodFileIsRead) {
  write_bytes(path_, with_header(kGood, 8));
  EXPECT_EQ(SafetensorsReader(path_).read("x").numel(), 2);
}

TEST_F(SafetensorsDamage, MissingFolderOrEmpty) {
  EXPECT_THROW(SafetensorsReader(folder_ / "none"), FileError);
  EXPECT_THROW(SafetensorsReader(folder_.path()), FileError);
  EXPECT_THROW(SafetensorsReader("/dev/null"), FileError);
  expect_error("", "a file of 0 bytes has no header");
}

TEST_F(SafetensorsDamage, CutAtEveryByteOrTooLong) {
  const std::string good = with_header(kGood, 8);

  for (std::size_t length = 0; length < good.size(); ++length) {
    expect_error(good.substr(0, length), "truncated");
  }
  expect_error(good + 'x', "describes 8 bytes of data, the file has 9");
}

TEST_F(SafetensorsDamage, HeaderLength) {
  std::string huge = with_header(kGood, 8);
  huge[7] = '\x7F';
  expect_error(huge, "does not fit a file of");
  expect_error(with_header("", 8), "does not begin with '{'");
}

TEST_F(SafetensorsDamage, NotJsonOrNotTheRightJson) {
  expect_header_error("{\"x\":", "not valid JSON");
  expect_header_error(" {}", "does not begin with '{'");
  expect_header_error("[1]", "does not begin with '{'");
  expect_header_error("{\"\xFF\":1}", "not valid JSON");
  expect_header_error(std::string(kGood) + "{}", "not valid JSON");
  expect_header_error(std::string(50000, '{'), "not valid JSON");
  expect_header_error(R"({"x":1})", "has no dtype");
  expect_header_error(R"({"__metadata__":{"a":1}})", "expected a string");
  expect_header_error(R"({"__metadata__":1})", "not an object");
}

TEST_F(SafetensorsDamage, Names) {
  expect_header_error(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                      "names \"x\" twice");
  expect_header_error(R"({"x":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,8]}})",
                      "names \"dtype\" twice");
}

TEST_F(SafetensorsDamage, Dtype) {
  expect_header_error(R"({"x":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", "unknown dtype F33");
  expect_header_error(R"({"x":{"dtype":3,"shape":[2],"data_offsets":[0,8]}})", "has no dtype");
  expect_header_error(R"({"x":{"shape":[2],"data_offsets":[0,8]}})", "has no dtype");
}

TEST_F(SafetensorsDamage, Shape) {
  const auto with_shape = [](const std::string& shape) {
    return R"({"x":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,8]}})";
  };
  expect_header_error(with_shape("[3]"), "does not fit its 8 bytes");
  expect_header_error(with_shape("[]"), "does not fit its 8 bytes");
  expect_header_error(with_shape("[-2]"), "holds -2");
  expect_header_error(with_shape("[2.0]"), "holds 2.0");
  expect_header_error(with_shape("[\"2\"]"), "holds \"2\"");
  expect_header_error(with_shape("2"), "no list \"shape\"");
  expect_header_error(with_shape("[99999999999999999999]"), "holds");
  expect_header_error(with_shape("[9223372036854775807, 2]"), "does not fit its 8 bytes");
  // 2^62 * 4 bytes overflow to 0 in 64 bits
  expect_header_error(with_shape("[4611686018427387904]"), "does not fit its 8 bytes");
}

TEST_F(SafetensorsDamage, Offsets) {
  const auto with_offsets = [](const std::string& offsets) {
    return R"({"x":{"dtype":"F32","shape":[2],"data_offsets":)" + offsets + "}}";
  };
  expect_header_error(with_offsets("[8,0]"), "expected [begin, end]");
  expect_header_error(with_offsets("[0]"), "expected [begin, end]");
  expect_header_error(with_offsets("[0,8,16]"), "expected [begin, end]");
  expect_header_error(with_offsets("[-8,0]"), "holds -8");
  expect_header_error(with_offsets("[8,16]"), "after a hole");
  expect_header_error(with_offsets("[0,4]"), "does not fit its 4 bytes");
}

TEST_F(SafetensorsDamage, OverlapAndHoles) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"x":{"dtype":"F32","shape":[1],"data_offsets":)" + first +
           R"(},"y":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
  };
  expect_header_error(two("[0,4]", "[2,6]"), "inside the one before");
  expect_header_error(two("[0,4]", "[0,4]"), "inside the one before");
  expect_header_error(two("[0,4]", "[6,10]"), "after a hole");
  expect_header_error(two("[4,8]", "[6,10]"), "after a hole");

  write_bytes(path_, with_header(two("[4,8]", "[0,4]"), 8));
  EXPECT_EQ(SafetensorsReader(path_).tensors()[0].name, "y") << "any order of names is fine";
}

TEST_F(SafetensorsDamage, AFileCutWhileItIsOpenIsAnError) {
  write_bytes(path_, with_header(kGood, 8));
  const SafetensorsReader reader(path_);

  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);

  EXPECT_THROW(reader.read("x"), FileError);
  EXPECT_THROW(reader.read("y"), InvalidArgument);
}

}  // namespace
}  // namespace renga
