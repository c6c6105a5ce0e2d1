// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "renga/train/load_meter.hpp"
#include "renga/train/operator_times.hpp"

namespace renga::test {
namespace {

using Clock = std::chrono::steady_clock;

void work_for(std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

std::int64_t calls_of(const std::vector<train::OperatorTime>& times, const std::string& name) {
  for (const auto& time : times) {
    if (time.name == name) {
      return time.calls;
    }
  }
  return 0;
}

TEST(LoadMeter, OwnWorkIsNotThatOfOthers) {
  train::LoadMeter meter;
  meter.start();
  work_for(std::chrono::milliseconds(300));
  const train::Load load = meter.stop();

  EXPECT_GE(load.elapsed, 0.3);
  EXPECT_GT(load.own, 0.0);
  EXPECT_LE(load.own, load.elapsed + 0.05);
  EXPECT_GE(load.machine, load.own - 0.05);  // in steps of 10 ms
  EXPECT_DOUBLE_EQ(load.others(), (load.machine - load.own) / load.elapsed);
}

TEST(LoadMeter, SleepIsNoWork) {
  train::LoadMeter meter;
  meter.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(meter.stop().own, 0.1);
  EXPECT_EQ(train::Load{}.others(), 0.0);
}

TEST(OperatorTimes, CountsCallsAndSubtractsChildren) {
  const torch::NoGradGuard no_grad;
  const auto a = torch::randn({64, 64});
  train::OperatorTimes recorder;
  const auto begin = Clock::now();
  torch::linear(a, a);  // calls t and mm, or addmm
  torch::relu(a);
  torch::relu(a);
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto times = recorder.finish();

  EXPECT_EQ(calls_of(times, "aten::relu"), 2);
  EXPECT_EQ(calls_of(times, "aten::linear"), 1);
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_GE(times[i].self_seconds, 0.0) << times[i].name;
    EXPECT_TRUE(i == 0 || times[i - 1].self_seconds >= times[i].self_seconds);
    sum += times[i].self_seconds;
  }
  EXPECT_LE(sum, elapsed);
}

TEST(OperatorTimes, StopsWhenFinishedAndBeginsAnew) {
  const auto a = torch::randn({4});
  {
    train::OperatorTimes first;
    torch::relu(a);
  }
  torch::sigmoid(a);
  train::OperatorTimes second;
  torch::tanh(a);
  const auto times = second.finish();
  torch::tanh(a);

  EXPECT_EQ(calls_of(times, "aten::relu"), 0);
  EXPECT_EQ(calls_of(times, "aten::sigmoid"), 0);
  EXPECT_EQ(calls_of(times, "aten::tanh"), 1);
  EXPECT_TRUE(second.finish().empty());
}

}  // namespace
}  // namespace renga::test
