// SPDX-License-Identifier: Apache-2.0
#include "backoff.hpp"

#include <thread>

#include <sched.h>
#include <time.h>

namespace renga::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto kSpin = 5us;
constexpr auto kAwake = 2ms;
constexpr auto kSleep = 50us;
constexpr auto kIdle = 100ms;  // from here on a wait is long, and a core's time worth more than its end
constexpr auto kLongSleep = 1ms;
constexpr auto kSuspended = 1s;
// A poll that computes longer than this moved data: the peer is there, and to sleep would only slow it down. Time on
// the clock would not do: MPI yields inside a poll that finds nothing.
constexpr auto kBusyPoll = 4us;

std::chrono::nanoseconds computed() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Backoff::Backoff(FirstWait first) : first_(first), start_(Clock::now()), last_pause_(start_), last_moved_(start_) {}

void Backoff::pause() {
  const auto now = Clock::now();
  if (now - last_pause_ > kSuspended) {
    start_ += now - last_pause_;
  }
  last_pause_ = now;
  const auto waiting = last_pause_ - start_;
  if (waiting > kAwake) {
    long_pause();
  } else if (first_ == FirstWait::Yield || waiting > kSpin) {
    sched_yield();
  }
}

void Backoff::long_pause() {
  const bool watched = computed_before_poll_ != 0ns;
  if (watched && computed() - computed_before_poll_ > kBusyPoll) {
    last_moved_ = last_pause_;
  }
  const auto idle = last_pause_ - last_moved_;
  if (idle > kAwake) {
    std::this_thread::sleep_for(idle > kIdle ? kLongSleep : kSleep);
  } else {
    sched_yield();
  }
  computed_before_poll_ = computed();
}

}  // namespace renga::detail
