// SPDX-License-Identifier: Apache-2.0
#include "renga/train/run_folder.hpp"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/core/error.hpp"

#include "tests/checkpoint/temporary_folder.hpp"

namespace renga::train {
namespace {

namespace fs = std::filesystem;

std::size_t count_of(const std::string& part, const std::string& whole) {
  std::size_t count = 0;
  for (auto at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Value, IsWrittenAsJson) {
  const Fields fields{
      {"step", 10},     {"size", std::size_t{3}},    {"loss", 0.5},         {"ok", true},
      {"name", "a\"b"}, {"list", List{1, 2.5, "x"}}, {"nan", std::nan("")}, {"inner", Fields{{"d", 1.0F}}},
      {"bad", "\xFF"}};

  EXPECT_EQ(json_line(fields), R"({"step":10,"size":3,"loss":0.5,"ok":true,"name":"a\"b","list":[1,2.5,"x"],)"
                               R"("nan":null,"inner":{"d":1.0},"bad":")"
                               "\xEF\xBF\xBD"
                               R"("})");
  EXPECT_EQ(json_text({{"a", 1}}), "{\n  \"a\": 1\n}\n");
  EXPECT_EQ(json_line({}), "{}");
}

TEST(RunFolder, MakesItsFoldersAndNames) {
  const TemporaryFolder folder;

  const auto run = RunFolder::create(folder / "runs/one");
  run.write_config({{"seed", 0}});

  EXPECT_TRUE(fs::is_directory(folder / "runs/one/samples"));
  EXPECT_EQ(read_bytes(run.config_path()), "{\n  \"seed\": 0\n}\n");
  EXPECT_EQ(run.sample_path(100), (folder / "runs/one/samples/step-00000100.png"));
}

TEST(RunFolder, AnEmptyFolderIsTakenAnotherRunIsNot) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "empty");
  RunFolder::create(folder / "empty").write_config({});

  EXPECT_THROW(RunFolder::create(folder / "empty"), FileError);
}

TEST(RunFolder, WhereItCannotWriteIsAnErrorAtOnce) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "x");

  EXPECT_THROW(RunFolder::create(folder / "file"), FileError);
  EXPECT_THROW(RunFolder::create(folder / "file/run"), FileError);
  EXPECT_THROW(RunFolder::create("/proc/run"), FileError);
}

TEST(RunFolder, DefaultNamesAreByModelAndTimeAndNew) {
  const TemporaryFolder folder;
  const auto before = fs::current_path();
  fs::current_path(folder.path());

  const std::string first = RunFolder::default_path("dcgan");
  fs::create_directories(first);
  const std::string second = RunFolder::default_path("dcgan");
  const bool is_new = !fs::exists(second);
  fs::current_path(before);

  EXPECT_EQ(first.rfind("runs/dcgan-20", 0), 0U) << first;
  EXPECT_EQ(first.size(), std::string("runs/dcgan-YYYY-MM-DD-HHMMSS").size()) << first;
  EXPECT_TRUE(is_new);
}

TEST(RunFolder, EachLogLineIsInTheFileAtOnce) {
  const TemporaryFolder folder;
  auto run = RunFolder::create(folder / "run");

  run.log({{"step", 1}});
  const std::string one = read_bytes(run.log_path());
  run.log({{"step", 2}});

  EXPECT_EQ(one, "{\"step\":1}\n");
  EXPECT_EQ(read_bytes(run.log_path()), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(RunFolder, ALogThatCannotBeWrittenIsWarnedAboutOnceAndLosesNothing) {
  const TemporaryFolder folder;
  auto run = RunFolder::create(folder / "run");
  run.log({{"step", 1}});
  fs::rename(run.log_path(), folder / "aside");
  fs::create_directory(run.log_path());  // a folder in its place cannot be opened for writing

  testing::internal::CaptureStderr();
  run.log({{"step", 2}});
  run.log({{"step", 3}});
  fs::remove(run.log_path());
  fs::rename(folder / "aside", run.log_path());
  run.log({{"step", 4}});
  const std::string printed = testing::internal::GetCapturedStderr();

  EXPECT_EQ(read_bytes(run.log_path()), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":4}\n");
  EXPECT_EQ(count_of("cannot write: Is a directory", printed), 1U) << printed;
  EXPECT_EQ(count_of("can be written again", printed), 1U) << printed;
}

TEST(RunFolder, LinesStillUnwrittenAtTheEndAreTriedAgainOrReported) {
  const TemporaryFolder folder;
  testing::internal::CaptureStderr();
  {
    auto run = RunFolder::create(folder / "run");
    fs::create_directory(run.log_path());
    run.log({{"step", 1}});
    fs::remove(run.log_path());
  }
  const std::string saved = read_bytes(folder / "run/log.jsonl");
  {
    auto run = RunFolder::create(folder / "other");
    fs::create_directory(run.log_path());
    run.log({{"step", 1}});
    run.log({{"step", 2}});
  }
  const std::string printed = testing::internal::GetCapturedStderr();

  EXPECT_EQ(saved, "{\"step\":1}\n");
  EXPECT_NE(printed.find("2 lines could not be written and are lost"), std::string::npos) << printed;
}

TEST(RunFolder, GoingOnWithARunAppends) {
  const TemporaryFolder folder;
  {
    auto run = RunFolder::create(folder / "run");
    run.write_config({});
    run.log({{"step", 1}});
  }
  write_bytes(folder / "run/log.jsonl", read_bytes(folder / "run/log.jsonl") + "{\"st");  // killed

  auto run = RunFolder::open(folder / "run");
  run.log({{"step", 2}});

  EXPECT_EQ(read_bytes(run.log_path()), "{\"step\":1}\n{\"st\n{\"step\":2}\n");
  EXPECT_EQ(read_bytes(run.config_path()), "{}\n");
  EXPECT_THROW(RunFolder::open(folder / "none"), FileError);
}

TEST(RunFolder, ACutLogReadsAsIfTheRunHadEndedThere) {
  const TemporaryFolder folder;
  auto run = RunFolder::create(folder / "run");
  run.cut_log(3);
  EXPECT_FALSE(fs::exists(run.log_path()));
  write_bytes(run.log_path(), "{\"step\":1}\n{\"st\n{\"step\":3,\"x\":0.5}\n[3]\n7\n{\"step\":4}\n{\"step\":3");

  run.cut_log(3);
  const std::string cut = read_bytes(run.log_path());
  run.log({{"step", 4}});

  EXPECT_EQ(cut, "{\"step\":1}\n{\"step\":3,\"x\":0.5}\n");
  EXPECT_EQ(read_bytes(run.log_path()), cut + "{\"step\":4}\n");
  fs::remove(run.log_path());
  fs::create_directory(run.log_path());
  EXPECT_THROW(run.cut_log(3), FileError);
}

TEST(RunFolder, HalfALineLeftByAKilledRunIsCutOff) {
  const TemporaryFolder folder;
  RunFolder::create(folder / "run").write_config({});
  write_bytes(folder / "run/log.jsonl", "{\"step\":1}\n{\"step\":2,\"loss\":0.");

  auto run = RunFolder::open(folder / "run");
  run.cut_log(2);
  run.log({{"step", 2}});

  EXPECT_EQ(read_bytes(run.log_path()), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(RunFolder, BelongsToOneAtATime) {
  const TemporaryFolder folder;
  {
    const auto run = RunFolder::create(folder / "run");
    run.write_config({});

    EXPECT_THROW(RunFolder::open(folder / "run"), FileError);
  }
  EXPECT_NO_THROW(RunFolder::open(folder / "run"));
}

TEST(RunFolder, ASampleThatCannotBeWrittenIsAWarning) {
  const TemporaryFolder folder;
  const auto run = RunFolder::create(folder / "run");
  const auto image = torch::zeros({2, 2, 3}, at::kByte);

  run.write_sample(1, image);
  fs::remove_all(folder / "run/samples");
  testing::internal::CaptureStderr();
  run.write_sample(2, image);
  const std::string printed = testing::internal::GetCapturedStderr();

  EXPECT_NE(printed.find("training goes on"), std::string::npos) << printed;
}

}  // namespace
}  // namespace renga::train
