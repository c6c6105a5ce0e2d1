// SPDX-License-Identifier: Apache-2.0
#include "src/comm/signals.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace renga::detail {
namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t own_handler_calls = 0;

/// Each test begins as a program does.
class StopSignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
      std::signal(signal, SIG_DFL);
    }
  }
};
using StopSignalsDeathTest = StopSignalsTest;

TEST_F(StopSignalsTest, NotesEachSignalOnceItListens) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    StopSignals signals;
    signals.listen();
    EXPECT_FALSE(signals.arrived());
    std::raise(signal);
    EXPECT_TRUE(signals.arrived());
  }
}

TEST_F(StopSignalsTest, APassedOnSignalIsTheSameWish) {
  StopSignals signals;
  signals.listen();
  std::raise(SIGINT);
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  EXPECT_TRUE(signals.arrived());
}

TEST_F(StopSignalsTest, StartsAnew) {
  {
    StopSignals signals;
    signals.listen();
    std::raise(SIGTERM);
  }
  StopSignals signals;
  EXPECT_FALSE(signals.arrived());
  signals.listen();
  EXPECT_FALSE(signals.arrived());
}

TEST_F(StopSignalsTest, PutsTheHandlersBackUnlessASignalCame) {
  std::signal(SIGTERM, [](int) { own_handler_calls = own_handler_calls + 1; });
  {
    StopSignals signals;
    signals.listen();
  }
  std::raise(SIGTERM);
  EXPECT_EQ(own_handler_calls, 1);
  {
    StopSignals signals;
    signals.listen();
    std::raise(SIGTERM);
  }
  std::raise(SIGTERM);
  EXPECT_EQ(own_handler_calls, 1) << "after a signal the process is about to end";
}

TEST_F(StopSignalsTest, WhatIsIgnoredStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  StopSignals signals;
  signals.listen();
  std::raise(SIGINT);
  EXPECT_FALSE(signals.arrived());
}

TEST_F(StopSignalsDeathTest, WithoutListeningASignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST_F(StopSignalsDeathTest, TheSecondWishEndsTheProcess) {
  EXPECT_EXIT(
      {
        StopSignals signals;
        signals.listen();
        std::raise(SIGTERM);
        std::this_thread::sleep_for(2100ms);
        std::raise(SIGINT);
        std::this_thread::sleep_for(10s);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace renga::detail
