// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "renga/core/text.hpp"

#include "mpi/mpi_start.hpp"
#include "self_backend.hpp"

namespace renga::detail {
namespace {

using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

// How long a rank that failed waits for the others to fail too, before it ends the job.
constexpr Seconds kNotice = 1s;
constexpr Seconds kAbort = 2s;
// A launcher may take its time to start the last rank, also where waits are to be short.
constexpr Seconds kStart = 60s;
// Operations that nobody waited for have two seconds of this.
constexpr Seconds kFinalize = 30s;
constexpr Seconds kDrain = 3s;

void flush() {
  std::cout.flush();
  std::fflush(stdout);
}

std::string error_line(const std::string& message, int rank, int size) {
  return size == 1 ? message + '\n' : text("[rank ", rank, '/', size, "] ", message, '\n');
}

// For a process whose main thread is stuck, perhaps in printing: waits neither for that nor for whoever reads.
void print_at_once(const std::string& line) {
  pollfd entry{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&entry, 1, 0) > 0) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
}

// Calls `action`; when that takes longer than `limit`, calls `late`, which must end the process.
void bounded(Seconds limit, const std::function<void()>& action, const std::function<void()>& late) {
  std::mutex mutex;
  std::condition_variable_any changed;
  const std::jthread guard([&](const std::stop_token& stop) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, stop, limit, [] { return false; });
    if (!stop.stop_requested()) {
      late();
    }
  });
  action();
}

std::vector<int> missing(const Verdicts& verdicts) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
    if (!verdicts[rank]) {
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return ranks;
}

// A rank that has done its part learns that others have not.
Outcome not_ended(const Verdicts& verdicts, const PeerWatch& watch, Seconds patience) {
  if (watch.lost()) {
    return {1, watch.fault(), watch.fault()};
  }
  const std::vector<int> ranks = missing(verdicts);
  const std::string stopped = watch.stopped(ranks);
  const std::string message =
      text("run: expected every rank to end within ", patience.count(), " s of the first, got none from ranks ",
           sizes_text(std::vector<std::int64_t>(ranks.begin(), ranks.end())), stopped.empty() ? "" : ": ", stopped,
           " (RENGA_TIMEOUT sets the limit)");
  return {1, message, message};
}

// Whatever each rank was at when a peer failed it, they say the same, and one of them says it.
Outcome with_topic(Outcome outcome, const PeerWatch& watch) {
  const std::string fault = watch.fault();
  if (!fault.empty() && outcome.message.find(fault) != std::string::npos) {
    outcome.topic = fault;
  }
  return outcome;
}

// Some rank cannot be heard: it may wait in a collective for this one, or be gone.
[[noreturn]] void end_all(Job& job, const Outcome& outcome, const Verdicts& verdicts) {
  const int rank = job.verdicts->rank();
  const bool told = outcome.topic == job.watch->fault() && job.watch->others_have_spoken();
  const bool speaking = !told && speaks(verdicts, rank, outcome);
  job.watch->set_end(speaking ? End::Spoken : End::Silent);
  if (speaking) {
    print_error(outcome.message, rank, job.verdicts->size());
  }
  // The others that failed print what is their own before the job ends.
  if (differ(verdicts)) {
    std::this_thread::sleep_for(kNotice);
  }
  job.watch->kill_stopped();
  const auto leave = [&outcome] { std::_Exit(outcome.exit_code); };
  bounded(
      kAbort, [&] { job.verdicts->abort(outcome.exit_code); }, leave);
  std::_Exit(outcome.exit_code);  // GCC forgets that a virtual function does not return
}

// All ranks know of each other's end, and leave together.
int leave_together(Job& job, const Outcome& own, const Verdicts& verdicts, Seconds patience) {
  const int rank = job.verdicts->rank();
  const int size = job.verdicts->size();
  if (own.failed() && speaks(verdicts, rank, own)) {
    print_error(own.message, rank, size);
  }
  job.watch->set_end(End::Agreed);
  const int exit_code = own.failed() ? own.exit_code : static_cast<int>(any_failed(verdicts));
  const Seconds limit = exit_code == 0 ? std::min(kFinalize, patience + kDrain) : kNotice;
  const auto finalize = [&] {
    job.world.reset();
    job.verdicts.reset();
    job.finalize();
  };
  bounded(limit, finalize, [&] {
    if (exit_code == 0) {
      print_error(
          text("run: expected all ranks to leave the communication within ", limit.count(), " s, some have not"), rank,
          size);
    }
    job.watch->kill_stopped();
    std::_Exit(exit_code == 0 ? 1 : exit_code);
  });
  return exit_code;
}

}  // namespace

Job start_job(Seconds timeout) {
  const Seconds limit = std::max(timeout, kStart);
  Job job;
  job.launcher = discover(environment_variable);
  if (job.launcher == Launcher::None) {
    job.world = std::make_shared<SelfBackend>();
    job.verdicts = std::make_shared<SelfBackend>();
    job.finalize = [] {};
    return job;
  }
  const auto connect = [&job] {
    const std::shared_ptr<MpiStart> mpi = start_mpi();
    job.world = mpi->world({});
    job.verdicts = job.world->split(0, job.world->rank());
    job.finalize = [mpi] { mpi->finalize(); };
  };
  bounded(limit, connect, [limit] {
    print_error(text("start: expected all ranks to connect within ", limit.count(),
                     " s, some have not (RENGA_TIMEOUT sets the limit)"),
                0, 1);
    std::_Exit(1);
  });
  return job;
}

void watch_over(Job& job, const Communicator& world) {
  if (job.launcher == Launcher::None) {
    return;
  }
  Card own;
  std::vector<Peer> peers = find_peers(world, own);
  if (auto launcher = find_launcher()) {
    peers.push_back(std::move(*launcher));
  }
  const auto stuck = [rank = world.rank(), size = world.size()](const std::string& message) {
    if (!message.empty()) {
      print_at_once(error_line(message, rank, size));
    }
    std::_Exit(1);
  };
  job.watch = std::make_shared<PeerWatch>(std::move(peers), std::move(own), stuck);
}

int end_job(Job& job, const Outcome& own, Seconds patience) {
  flush();
  const Outcome outcome = with_topic(own, *job.watch);
  if (outcome.failed()) {
    job.watch->leaving();  // all that follows ends in time by itself
  }
  const Seconds limit = outcome.failed() ? kNotice : patience;
  const Verdicts verdicts = exchange_verdicts(*job.verdicts, outcome, limit, *job.watch);
  job.watch->leaving();
  // A rank that failed has said so before it was gone: its verdict is here, but it takes no part any more.
  const bool alone = outcome.failed() && job.watch->lost();
  if (all_known(verdicts) && !alone) {
    return leave_together(job, outcome, verdicts, patience);
  }
  end_all(job, outcome.failed() ? outcome : not_ended(verdicts, *job.watch, patience), verdicts);
}

void print_error(const std::string& message, int rank, int size) {
  std::fputs(error_line(message, rank, size).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace renga::detail
