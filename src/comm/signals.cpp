// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <atomic>
#include <cstdint>

#include <time.h>

namespace renga::detail {
namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr std::int64_t kSameWish = 2 * kNanoseconds;

// When the first signal came, 0 if none has. A signal handler can be handed nothing, so this one object belongs to
// the process; only handlers and `StopSignals` touch it.
std::atomic<std::int64_t> first_signal{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a handler must not wait for a lock");

}  // namespace

// Calls only what POSIX allows in a handler.
extern "C" {
static void note_signal(int signal) {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = time.tv_sec * kNanoseconds + time.tv_nsec;
  std::int64_t first = 0;
  if (!first_signal.compare_exchange_strong(first, now) && now - first > kSameWish) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // comes when this handler returns
  }
}
}

StopSignals::~StopSignals() {
  if (arrived()) {
    return;
  }
  for (const auto& [signal, action] : before_) {
    sigaction(signal, &action, nullptr);
  }
}

void StopSignals::listen() {
  if (listens_) {
    return;
  }
  listens_ = true;
  first_signal = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction noted {};
    noted.sa_handler = note_signal;
    noted.sa_flags = SA_RESTART;  // files and sockets of the program need not know
    sigemptyset(&noted.sa_mask);
    sigaction(signal, &noted, nullptr);
    before_.emplace_back(signal, before);
  }
}

bool StopSignals::arrived() const { return listens_ && first_signal != 0; }

}  // namespace renga::detail
