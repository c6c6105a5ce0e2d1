// SPDX-License-Identifier: Apache-2.0
#include "src/data/byte_file.hpp"

#include <random>

#include "renga/core/error.hpp"

#include "tests/data/data_files.hpp"

namespace renga {
namespace {

using data::ByteFile;
using test::Bytes;

// Longer than the reader's chunks; half of it does not compress.
Bytes long_bytes() {
  std::mt19937 random(3);
  Bytes bytes(5'000'001);
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    bytes[i] = static_cast<std::uint8_t>(random());
  }
  return bytes;
}

Bytes read_all(const std::string& path, std::size_t count) { return ByteFile(path).read_rest(count); }

std::string failure(const std::string& path, std::size_t count) {
  return test::message_of<FileError>([&] { read_all(path, count); });
}

TEST(ByteFile, ReadsPlainAndGzip) {
  const test::TemporaryFolder folder;
  const Bytes bytes = long_bytes();

  EXPECT_EQ(read_all(folder.write("plain", bytes), bytes.size()), bytes);
  EXPECT_EQ(read_all(folder.write("packed", test::gzip(bytes)), bytes.size()), bytes);
}

TEST(ByteFile, ReadsInParts) {
  const test::TemporaryFolder folder;
  for (const auto& stored : {Bytes{1, 2, 3, 4, 5}, test::gzip({1, 2, 3, 4, 5})}) {
    ByteFile file(folder.write("file", stored));
    Bytes first(2);
    Bytes second(9);

    EXPECT_EQ(file.read(first), 2U);
    EXPECT_EQ(file.read(second), 3U);
    EXPECT_EQ(first, (Bytes{1, 2}));
    EXPECT_EQ(second[2], 5);
    EXPECT_EQ(file.read(second), 0U);
  }
}

TEST(ByteFile, ReadsGzipOfSeveralMembers) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("two", test::joined(test::gzip({1, 2}), test::gzip({3})));

  EXPECT_EQ(read_all(path, 3), (Bytes{1, 2, 3}));
}

TEST(ByteFile, ReadsEmptyGzip) {
  const test::TemporaryFolder folder;

  EXPECT_TRUE(read_all(folder.write("empty", test::gzip({})), 0).empty());
}

TEST(ByteFile, NamesAFileThatIsNotThere) {
  const test::TemporaryFolder folder;

  EXPECT_EQ(failure(folder.path("none"), 1), folder.path("none") + ": no such file");
  EXPECT_EQ(failure(folder.path(), 1), folder.path() + ": not a file");
}

TEST(ByteFile, RefusesAnotherLength) {
  const test::TemporaryFolder folder;
  for (const auto& stored : {Bytes{1, 2, 3}, test::gzip({1, 2, 3})}) {
    const auto path = folder.write("file", stored);

    test::expect_contains(failure(path, 4), path + ": truncated: expected 4 bytes of data, got 3");
    test::expect_contains(failure(path, 2), path + ": expected its end after 2 bytes of data, got more");
  }
}

TEST(ByteFile, RefusesGzipCutOffAnywhere) {
  const test::TemporaryFolder folder;
  const Bytes bytes(1000, 7);
  const Bytes packed = test::gzip(bytes);
  for (std::size_t last = 1; last < packed.size() - 2; ++last) {
    test::expect_contains(failure(folder.write("cut", test::cut(packed, last)), bytes.size()), "cut off");
  }
}

TEST(ByteFile, RefusesCorruptGzip) {
  const test::TemporaryFolder folder;
  const Bytes bytes = long_bytes();
  const Bytes packed = test::gzip(bytes);
  for (const std::size_t place : {packed.size() / 3, packed.size() - 6, packed.size() - 2}) {
    Bytes wrong = packed;
    wrong[place] ^= 0x10;
    test::expect_contains(failure(folder.write("wrong", wrong), bytes.size()), "corrupt");
  }
}

TEST(ByteFile, RefusesGarbageAfterGzip) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("garbage", test::joined(test::gzip({1, 2}), {'g', 'a', 'r', 'b', 'a', 'g', 'e'}));

  test::expect_contains(failure(path, 2), "corrupt");
}

}  // namespace
}  // namespace renga
