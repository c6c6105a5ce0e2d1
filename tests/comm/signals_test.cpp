// SPDX-License-Identifier: Apache-2.0
#include "src/comm/signals.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace renga::detail {
namespace {

using namespace std::chrono_literals;

volatile std::sig_atomic_t own_handler_calls = 0;

TEST(StopSignals, NotesEachSignalOnceItListens) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    StopSignals signals;
    signals.listen();
    EXPECT_FALSE(signals.arrived());
    std::raise(signal);
    EXPECT_TRUE(signals.arrived());
  }
}

TEST(StopSignals, APassedOnSignalIsTheSameWish) {
  StopSignals signals;
  signals.listen();
  std::raise(SIGINT);
  std::raise(SIGTERM);
  std::raise(SIGTERM);
  EXPECT_TRUE(signals.arrived());
}

TEST(StopSignals, StartsAnew) {
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

TEST(StopSignals, PutsTheHandlersBack) {
  const auto before = std::signal(SIGTERM, [](int) { own_handler_calls = own_handler_calls + 1; });
  {
    StopSignals signals;
    signals.listen();
    std::raise(SIGTERM);
    EXPECT_EQ(own_handler_calls, 0);
  }
  std::raise(SIGTERM);
  EXPECT_EQ(own_handler_calls, 1);
  std::signal(SIGTERM, before);
}

TEST(StopSignals, WhatIsIgnoredStaysIgnored) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  {
    StopSignals signals;
    signals.listen();
    std::raise(SIGINT);
    EXPECT_FALSE(signals.arrived());
  }
  std::signal(SIGINT, before);
}

TEST(StopSignalsDeathTest, WithoutListeningASignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        const StopSignals signals;
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(StopSignalsDeathTest, TheSecondWishEndsTheProcess) {
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
