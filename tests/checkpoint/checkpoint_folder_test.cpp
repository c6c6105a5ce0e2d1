// SPDX-License-Identifier: Apache-2.0
#include "renga/checkpoint/checkpoint_folder.hpp"

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "tests/checkpoint/error_of.hpp"
#include "tests/checkpoint/file_size_limit.hpp"
#include "tests/checkpoint/temporary_folder.hpp"

namespace renga {
namespace {

namespace fs = std::filesystem;

using Steps = std::vector<std::int64_t>;

void save_step(const CheckpointFolder& checkpoints, std::int64_t step, const std::string& content = "some weights") {
  const std::string folder = checkpoints.begin(step);
  write_bytes(folder + "/model", content);
  fs::create_directory(folder + "/state");
  write_bytes(folder + "/state/random", std::string(3'000'000, 'r'));
  write_bytes(folder + "/state/empty", "");
  checkpoints.commit(step);
}

std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
  return bytes;
}

TEST(CheckpointFolder, ACheckpointIsWhole) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());

  save_step(checkpoints, 20);

  checkpoints.verify(20);
  EXPECT_EQ(checkpoints.newest_whole().step, 20);
  EXPECT_TRUE(checkpoints.newest_whole().damaged.empty());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"step-00000020"});
  EXPECT_EQ(read_bytes(checkpoints.path(20) + "/manifest.json"), R"({
  "format": "renga checkpoint",
  "version": 1,
  "step": 20,
  "files": {
    "model": {
      "bytes": 12,
      "crc32": 2802348750
    },
    "state/empty": {
      "bytes": 0,
      "crc32": 0
    },
    "state/random": {
      "bytes": 3000000,
      "crc32": 2975279033
    }
  }
}
)");
}

TEST(CheckpointFolder, NothingHasTheNameBeforeCommit) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 5);

  const std::string saving = checkpoints.begin(10);
  write_bytes(saving + "/model", "half");

  EXPECT_EQ(checkpoints.steps(), Steps{5});
  EXPECT_EQ(checkpoints.newest_whole().step, 5);
  checkpoints.discard(10);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"step-00000005"});
}

TEST(CheckpointFolder, StepsAreListedNewestFirst) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  for (const char* name :
       {"step-00000009", "step-00000100", "step-123456789", "step-00000010", "step-7", "step-", "step-0000000x",
        "step-000000011", "samples", "saving-step-00000200", "step-99999999999999999999"}) {
    fs::create_directory(folder / name);
  }

  EXPECT_EQ(checkpoints.steps(), (Steps{123456789, 100, 10, 9}));
  EXPECT_EQ(CheckpointFolder(folder / "none").steps(), Steps{});
}

TEST(CheckpointFolder, EveryFlippedByteAndCutIsFound) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 20);

  for (const std::string name : {"model", "state/random", "manifest.json"}) {
    const std::string path = checkpoints.path(20) + "/" + name;
    const std::string whole = read_bytes(path);
    for (const std::size_t at : {std::size_t{0}, whole.size() / 3, whole.size() / 2, whole.size() - 2}) {
      write_bytes(path, flipped(whole, at));
      EXPECT_NE(error_of([&] { checkpoints.verify(20); }).find(checkpoints.path(20) + ": "), std::string::npos)
          << name << " flipped at " << at;
      write_bytes(path, whole.substr(0, at));
      EXPECT_NE(error_of([&] { checkpoints.verify(20); }), "") << name << " cut at " << at;
    }
    write_bytes(path, whole + "x");
    EXPECT_NE(error_of([&] { checkpoints.verify(20); }), "") << name << " longer";
    write_bytes(path, whole);
  }
  checkpoints.verify(20);
}

TEST(CheckpointFolder, NoByteOfTheListCanBeFlippedOrCutUnseen) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 20);
  const std::string path = checkpoints.path(20) + "/manifest.json";
  const std::string whole = read_bytes(path);

  std::size_t unseen = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::string& damaged : {flipped(whole, at), whole.substr(0, at)}) {
      write_bytes(path, damaged);
      unseen += error_of([&] { checkpoints.verify(20); }).empty() ? 1 : 0;
    }
  }

  EXPECT_EQ(unseen, 0U);
}

TEST(CheckpointFolder, TheErrorSaysWhatIsWrong) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 20);
  const std::string step = checkpoints.path(20);
  const std::string list = read_bytes(step + "/manifest.json");
  const auto error = [&] { return error_of([&] { checkpoints.verify(20); }); };

  write_bytes(step + "/model", "some weight");
  EXPECT_EQ(error(), "checkpoint: " + step + ": model: expected 12 bytes, got 11");
  write_bytes(step + "/model", "same weights");
  EXPECT_EQ(error().rfind("checkpoint: " + step + ": model: damaged: expected checksum 2802348750, got ", 0), 0U);
  fs::remove(step + "/model");
  EXPECT_EQ(error(), "checkpoint: " + step + ": model: missing");
  fs::create_directory(step + "/model");
  EXPECT_EQ(error(), "checkpoint: " + step + ": model: not an ordinary file");
  fs::remove(step + "/manifest.json");
  EXPECT_EQ(error(), "checkpoint: " + step + ": manifest.json: missing");
  write_bytes(step + "/manifest.json", "");
  EXPECT_EQ(error().rfind("checkpoint: " + step + ": manifest.json: damaged: ", 0), 0U) << error();
  write_bytes(step + "/manifest.json", "{}");
  EXPECT_EQ(error(), "checkpoint: " + step + ": manifest.json: not the list of a checkpoint's files");
  write_bytes(step + "/manifest.json", std::string(list).replace(list.find("version\": 1") + 10, 1, "2"));
  EXPECT_EQ(error(), "checkpoint: " + step + ": manifest.json: version: expected 1, got 2");
  write_bytes(step + "/manifest.json", std::string(list).replace(list.find("\"model\""), 7, "\"../up\""));
  EXPECT_EQ(error(), "checkpoint: " + step + ": manifest.json: files: expected paths within the folder, got ../up");
  write_bytes(step + "/manifest.json", list);
  fs::rename(step, checkpoints.path(30));
  EXPECT_EQ(error_of([&] { checkpoints.verify(30); }),
            "checkpoint: " + checkpoints.path(30) + ": manifest.json: step: expected 30, got 20");
}

TEST(CheckpointFolder, TheOneBeforeADamagedOneIsFoundAndAllReasonsAreKept) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  EXPECT_EQ(error_of([&] { checkpoints.newest_whole(); }),
            "checkpoint: " + folder.path() + ": expected a whole checkpoint, got none at all");
  for (const std::int64_t step : {10, 20, 30}) {
    save_step(checkpoints, step);
  }
  write_bytes(checkpoints.path(20) + "/model", "");
  fs::remove(checkpoints.path(30) + "/state/random");

  const auto found = checkpoints.newest_whole();
  fs::remove_all(checkpoints.path(10) + "/manifest.json");
  const std::string none = error_of([&] { checkpoints.newest_whole(); });

  EXPECT_EQ(found.step, 10);
  EXPECT_EQ(found.damaged,
            (std::vector<std::string>{"checkpoint: " + checkpoints.path(30) + ": state/random: missing",
                                      "checkpoint: " + checkpoints.path(20) + ": model: expected 12 bytes, got 0"}));
  EXPECT_NE(none.find("expected a whole checkpoint, got 3 that are damaged"), std::string::npos) << none;
  EXPECT_NE(none.find("step-00000010: manifest.json: missing"), std::string::npos) << none;
}

TEST(CheckpointFolder, SavingAgainReplacesWhatIsThere) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 20);
  fs::remove(checkpoints.path(20) + "/manifest.json");
  write_bytes(checkpoints.path(20) + "/stray", "x");
  write_bytes(checkpoints.begin(20) + "/stray", "left by a job that was killed");

  save_step(checkpoints, 20, "other weights");

  checkpoints.verify(20);
  EXPECT_EQ(read_bytes(checkpoints.path(20) + "/model"), "other weights");
  EXPECT_FALSE(fs::exists(checkpoints.path(20) + "/stray"));
  write_bytes(checkpoints.path(30), "a file in its place");
  save_step(checkpoints, 30);
  checkpoints.verify(30);
}

TEST(CheckpointFolder, LeftoversAreRemovedAndNothingElse) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  save_step(checkpoints, 20);
  write_bytes(checkpoints.begin(30) + "/model", "half");
  for (const char* name : {"config.json.tmp-123", "step-00000020/state/random.tmp-9", "log.jsonl.tmp-x", "notes.tmp"}) {
    write_bytes(folder / name, "x");
  }
  fs::create_directory(folder / "folder.tmp-1");

  checkpoints.remove_leftovers();

  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"folder.tmp-1", "log.jsonl.tmp-x", "notes.tmp", "step-00000020"}));
  EXPECT_FALSE(fs::exists(checkpoints.path(20) + "/state/random.tmp-9"));
  checkpoints.verify(20);
  CheckpointFolder(folder / "none").remove_leftovers();
}

TEST(CheckpointFolder, AnErrorLeavesEarlierOnesWhole) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder / "run");
  EXPECT_EQ(error_of([&] { checkpoints.begin(1); }), "checkpoint: " + (folder / "run/saving-step-00000001") +
                                                         ": cannot make the folder: No such file or directory");
  fs::create_directory(folder / "run");
  save_step(checkpoints, 10);
  const std::string saving = checkpoints.begin(20);
  write_bytes(saving + "/model", "weights");

  std::string full_disk;
  {
    const FileSizeLimit limit(20);
    full_disk = error_of([&] { checkpoints.commit(20); });
  }
  checkpoints.discard(20);

  EXPECT_EQ(full_disk, "write: " + saving + "/manifest.json: cannot write: File too large");
  EXPECT_EQ(checkpoints.newest_whole().step, 10);
  EXPECT_EQ(checkpoints.steps(), Steps{10});
}

}  // namespace
}  // namespace renga
