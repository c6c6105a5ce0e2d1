// SPDX-License-Identifier: Apache-2.0
#include "backoff.hpp"

#include <thread>

#include <sched.h>

namespace renga::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto kSpin = 5us;
constexpr auto kAwake = 2ms;
constexpr auto kSleep = 50us;
// A poll that takes longer than this moved data: the peer is there and a sleep would only slow it down.
constexpr auto kBusyPoll = 3us;

}  // namespace

Backoff::Backoff(FirstWait first) : first_(first), start_(Clock::now()), idle_since_(start_), last_pause_end_(start_) {}

void Backoff::pause() {
  const auto now = Clock::now();
  if (now - last_pause_end_ > kBusyPoll) {
    idle_since_ = now;
  }
  if (now - idle_since_ > kAwake) {
    std::this_thread::sleep_for(kSleep);
  } else if (first_ == FirstWait::Yield || now - start_ > kSpin) {
    sched_yield();
  }
  last_pause_end_ = Clock::now();
}

}  // namespace renga::detail
