// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "renga/core/text.hpp"

#include "discovery.hpp"
#include "mpi/mpi_start.hpp"
#include "self_backend.hpp"

namespace renga::detail {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

// How long a rank that failed waits for the others to fail too, before it ends the job.
constexpr Seconds kNotice = 1s;
constexpr Seconds kFinalize = 30s;

void flush() {
  std::cout.flush();
  std::fflush(stdout);
}

// Calls `action`; when that takes longer than `limit`, ends this process.
void bounded(Seconds limit, int exit_code, const std::function<void()>& action) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread guard([&] {
    std::unique_lock<std::mutex> lock(mutex);
    if (!changed.wait_for(lock, limit, [&] { return over; })) {
      std::_Exit(exit_code);
    }
  });
  action();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    over = true;
  }
  changed.notify_one();
  guard.join();
}

std::string missing_text(const Verdicts& verdicts, Seconds patience) {
  std::vector<std::int64_t> missing;
  for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
    if (!verdicts[rank]) {
      missing.push_back(static_cast<std::int64_t>(rank));
    }
  }
  return text("run: expected every rank to end within ", patience.count(), " s of the first, got none from ranks ",
              sizes_text(missing), " (RENGA_TIMEOUT sets the limit)");
}

// Some rank cannot be heard: it may wait in a collective for this one.
[[noreturn]] void end_all(Job& job, const Outcome& own, const Verdicts& verdicts) {
  // The others that failed print what is their own before the job ends.
  if (differ(verdicts)) {
    std::this_thread::sleep_for(kNotice);
  }
  const int exit_code = own.failed() ? own.exit_code : 1;
  job.verdicts->abort(exit_code);
  std::_Exit(exit_code);  // GCC forgets that a virtual function does not return
}

}  // namespace

Job start_job() {
  if (discover(environment_variable) == Launcher::Mpi) {
    const std::shared_ptr<MpiStart> mpi = start_mpi();
    std::shared_ptr<Backend> world = mpi->world({});
    std::shared_ptr<Backend> verdicts = world->split(0, world->rank());
    return {std::move(world), std::move(verdicts), [mpi] { mpi->finalize(); }};
  }
  return {std::make_shared<SelfBackend>(), std::make_shared<SelfBackend>(), [] {}};
}

int end_job(Job& job, const Outcome& own, Seconds patience) {
  const int rank = job.verdicts->rank();
  const int size = job.verdicts->size();
  flush();
  const Verdicts verdicts = exchange_verdicts(*job.verdicts, own, own.failed() ? kNotice : patience);
  if (own.failed() && speaks(verdicts, rank)) {
    print_error(own.message, rank, size);
  }
  if (!all_known(verdicts)) {
    if (!own.failed()) {
      print_error(missing_text(verdicts, patience), rank, size);
    }
    end_all(job, own, verdicts);
  }
  const int exit_code = own.failed() ? own.exit_code : static_cast<int>(any_failed(verdicts));
  job.world.reset();
  job.verdicts.reset();
  bounded(exit_code == 0 ? kFinalize : kNotice, exit_code == 0 ? 1 : exit_code, job.finalize);
  return exit_code;
}

void print_error(const std::string& message, int rank, int size) {
  const std::string line = size == 1 ? message + '\n' : text("[rank ", rank, '/', size, "] ", message, '\n');
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace renga::detail
