// SPDX-License-Identifier: Apache-2.0
#include "renga/train/progress.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "renga/train/step_timer.hpp"

namespace renga::train {
namespace {

using namespace std::chrono_literals;

constexpr ProgressOptions kOptions{.total_steps = 100, .images_per_step = 64};

TEST(Progress, LinesComeFirstLastAndEveryFewSeconds) {
  std::ostringstream out;
  Progress progress(kOptions, out, Progress::Style::Lines);
  const auto begin = Progress::Clock::now();

  for (std::int64_t step = 1; step <= 100; ++step) {
    progress.update(step, {{"d", 0.5}, {"g", 2.0}}, begin + step * 100ms);
  }

  EXPECT_EQ(out.str(),
            "step 1/100  d 0.5000  g 2.0000\n"
            "step 51/100  640 images/s  d 0.5000  g 2.0000  0:05 left\n"
            "step 100/100  640 images/s  d 0.5000  g 2.0000\n");
}

TEST(Progress, ABarIsRedrawnInPlaceAndEndsWithALineFeed) {
  std::ostringstream out;
  const auto begin = Progress::Clock::now();
  {
    Progress progress(kOptions, out, Progress::Style::Bar);
    progress.update(1, {}, begin);
    progress.update(2, {}, begin + 1ms);  // too soon
    progress.update(50, {}, begin + 1s);
    progress.update(100, {}, begin + 2s);
  }

  const std::string text = out.str();
  EXPECT_EQ(text.rfind("\r[>                   ] 1/100\x1b[K\r[==========>         ] 50/100", 0), 0U) << text;
  EXPECT_NE(text.find("[====================] 100/100"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, AnInterruptedBarLeavesTheLine) {
  std::ostringstream out;
  { Progress(kOptions, out, Progress::Style::Bar).update(7, {}); }
  EXPECT_EQ(out.str().back(), '\n');
}

TEST(Progress, TheFirstTwoStepsDoNotCountForTheRate) {
  std::ostringstream out;
  ProgressOptions options = kOptions;
  options.line_interval = 0s;
  Progress progress(options, out, Progress::Style::Lines);
  const auto begin = Progress::Clock::now();

  progress.update(11, {}, begin + 50s);
  progress.update(12, {}, begin + 100s);
  progress.update(13, {}, begin + 101s);

  EXPECT_NE(out.str().find("step 13/100  64.0 images/s  1:27 left"), std::string::npos) << out.str();
}

TEST(DurationText, MinutesAndHours) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(83.4), "1:23");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(-5), "0:00");
}

TEST(Median, OfNoneOddAndEven) {
  EXPECT_EQ(median({}), 0.0);
  EXPECT_EQ(median({3, 1, 2}), 2.0);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(StepTimer, TheFirstTwoStepsAndPausesDoNotCount) {
  StepTimer timer;
  auto now = StepTimer::Clock::now();

  timer.start(now);
  for (const auto step : {10s, 5s, 1s, 3s, 2s}) {
    timer.step(now += step);
  }
  const double after_five = timer.median_seconds();
  timer.start(now += 100s);
  timer.step(now += 2s);

  EXPECT_DOUBLE_EQ(after_five, 2.0);
  EXPECT_DOUBLE_EQ(timer.last_seconds(), 2.0);
  EXPECT_DOUBLE_EQ(timer.median_seconds(), 2.0);
  EXPECT_EQ(timer.count(), 6);
}

TEST(StepTimer, FewSteps) {
  StepTimer timer;
  EXPECT_EQ(timer.median_seconds(), 0.0);
  auto now = StepTimer::Clock::now();
  timer.start(now);
  timer.step(now += 4s);
  EXPECT_DOUBLE_EQ(timer.median_seconds(), 4.0);
}

TEST(PeakMemory, GrowsWithWhatIsTouched) {
  const std::int64_t before = peak_memory_bytes();
  const std::vector<char> block(std::size_t{100} << 20, 'x');
  EXPECT_GT(before, 1 << 20);
  EXPECT_GE(peak_memory_bytes(), before + (std::int64_t{50} << 20) * (block.back() == 'x'));
}

}  // namespace
}  // namespace renga::train
