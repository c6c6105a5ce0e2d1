// SPDX-License-Identifier: Apache-2.0
#include "renga/checkpoint/atomic_file.hpp"

#include <csignal>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "renga/core/error.hpp"

#include "tests/checkpoint/error_of.hpp"
#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

using Names = std::vector<std::string>;

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");

  file.write("one ");
  file.write("two");
  const bool before = std::filesystem::exists(folder / "a");
  file.commit();

  EXPECT_FALSE(before);
  EXPECT_EQ(read_bytes(folder / "a"), "one two");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ReplacesAnOlderFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "something longer");

  AtomicFile file(folder / "a");
  file.write("new");
  file.commit();

  EXPECT_EQ(read_bytes(folder / "a"), "new");
}

TEST(AtomicFile, WithoutCommitTheOlderFileStaysAndNothingElse) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");

  {
    AtomicFile file(folder / "a");
    file.write("new");
  }

  EXPECT_EQ(read_bytes(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ALeftoverOfAProcessOfTheSameNumberIsOverwritten) {
  const TemporaryFolder folder;
  write_bytes(folder / ("a.tmp-" + std::to_string(::getpid())), "left behind by a crash");

  AtomicFile file(folder / "a");
  file.write("new");
  file.commit();

  EXPECT_EQ(read_bytes(folder / "a"), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, AFullDiskIsAnErrorThatLeavesNothing) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  std::string message;

  {
    const FileSizeLimit limit(1000);
    AtomicFile file(folder / "a");
    file.write(std::string(600, 'x'));
    message = error_of([&] { file.write(std::string(600, 'x')); });
    EXPECT_EQ(folder.names(), Names{"a"}) << "removed at once, to free the space";
    EXPECT_THROW(file.write("more"), InvalidArgument);
    EXPECT_THROW(file.commit(), InvalidArgument);
  }

  EXPECT_EQ(message, "write: " + (folder / "a") + ": cannot write: File too large");
  EXPECT_EQ(read_bytes(folder / "a"), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ANamelessOrUnwritableFolderIsAnErrorNamingThePath) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "");

  EXPECT_EQ(error_of([&] { AtomicFile file(folder / "none/a"); }),
            "write: " + (folder / "none/a") + ": cannot create the file: No such file or directory");
  EXPECT_EQ(error_of([&] { AtomicFile file(folder / "file/a"); }),
            "write: " + (folder / "file/a") + ": cannot create the file: Not a directory");
}

TEST(AtomicFile, AFolderInThePlaceOfTheFileIsAnErrorThatLeavesNothing) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  AtomicFile file(folder / "a");
  file.write("x");

  const std::string message = error_of([&] { file.commit(); });

  EXPECT_EQ(message, "write: " + (folder / "a") + ": cannot put the file into place: Is a directory");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, ARelativeNameLiesInTheCurrentFolder) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());

  AtomicFile file("a");
  file.write("x");
  file.commit();
  std::filesystem::current_path(before);

  EXPECT_EQ(read_bytes(folder / "a"), "x");
}

using Temporary = AtomicFile::Temporary;

bool has_nameless_files(const TemporaryFolder& folder) {
  const int descriptor = ::open(folder.path().c_str(), O_WRONLY | O_TMPFILE, 0666);
  return descriptor >= 0 && ::close(descriptor) == 0;
}

// In a process of its own.
void write_and_be_killed(const std::string& path) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(path);
    file.write("half of");
    std::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(AtomicFile, AKilledProcessLeavesNothing) {
  const TemporaryFolder folder;
  if (!has_nameless_files(folder)) {
    GTEST_SKIP() << "not on this file system";
  }
  write_and_be_killed(folder / "a");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(AtomicFile, AKilledProcessLeavesTheOlderFile) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  write_and_be_killed(folder / "a");
  EXPECT_EQ(read_bytes(folder / "a"), "old");
}

TEST(AtomicFile, HasNoNameBeforeCommit) {
  const TemporaryFolder folder;
  if (!has_nameless_files(folder)) {
    GTEST_SKIP() << "not on this file system";
  }
  AtomicFile file(folder / "a");
  file.write("new");
  EXPECT_EQ(folder.names(), Names{});
}

TEST(AtomicFile, WhereNamelessFilesAreUnknownTheTemporaryOneHasAName) {
  const TemporaryFolder folder;
  write_bytes(folder / "a", "old");
  {
    AtomicFile file(folder / "a", Temporary::Named);
    file.write("new");
    EXPECT_EQ(folder.names().size(), 2U);
    file.commit();
  }
  EXPECT_EQ(read_bytes(folder / "a"), "new");
  {
    AtomicFile file(folder / "a", Temporary::Named);
    file.write("newer");
  }
  EXPECT_EQ(read_bytes(folder / "a"), "new");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(AtomicFile, BothWaysGiveTheSameRights) {
  const TemporaryFolder folder;
  for (const Temporary temporary : {Temporary::Nameless, Temporary::Named}) {
    AtomicFile file(folder / (temporary == Temporary::Named ? "named" : "nameless"), temporary);
    file.commit();
  }
  EXPECT_EQ(std::filesystem::status(folder / "named").permissions(),
            std::filesystem::status(folder / "nameless").permissions());
}

}  // namespace
}  // namespace renga
