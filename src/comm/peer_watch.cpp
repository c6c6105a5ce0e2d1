// SPDX-License-Identifier: Apache-2.0
#include "peer_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

constexpr int kForever = -1;
constexpr int kAskAgain = 200;  // milliseconds, where the kernel cannot wake us
constexpr int kComeRound = 2000;

// Signals are for the program's own threads.
std::thread start_without_signals(const std::function<void()>& action) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(action);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

bool poll_until(std::vector<pollfd>& entries, int milliseconds) {
  int ready = -1;
  do {
    ready = ::poll(entries.data(), entries.size(), milliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// Whether it has ended before its time.
bool is_gone(const Peer& peer) { return peer.process.ended() && !(peer.card && peer.card->end() == End::Agreed); }

bool is_among(const Peer& peer, const std::vector<int>& ranks) {
  return std::find(ranks.begin(), ranks.end(), peer.rank) != ranks.end();
}

// Where a rank is, "" if that is where it is wanted, or past it.
std::string absence(const Progress& actual, const Progress& wanted) {
  const std::string operation = text(actual.name, " #", actual.number);
  if (actual.group != wanted.group) {
    return " was last in " + operation + " of another communicator";
  }
  if (actual.number < wanted.number) {
    return " has not come, it was last in " + operation;
  }
  const bool other_operation = actual.number == wanted.number && actual.name != wanted.name;
  return other_operation ? " is in " + operation : "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) {
    all += (all.empty() ? "" : ", ") + part;
  }
  return all;
}

}  // namespace

PeerWatch::PeerWatch(std::vector<Peer> peers, Card own, std::function<void(const std::string&)> stuck)
    : peers_(std::move(peers)), own_(std::move(own)), stuck_(std::move(stuck)) {
  if (peers_.empty()) {
    return;
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) {
    throw std::system_error(errno, std::generic_category(), "watch: eventfd");
  }
  thread_ = start_without_signals([this] { watch(); });
}

PeerWatch::~PeerWatch() {
  leaving();
  if (thread_.joinable()) {
    thread_.join();
    ::close(wake_);
  }
}

void PeerWatch::leaving() {
  if (!over_.exchange(true) && wake_ >= 0) {
    ::eventfd_write(wake_, 1);
  }
}

void PeerWatch::watch() {
  const Peer* const gone = wait_for_loss();
  if (gone == nullptr) {
    return;
  }
  lose(*gone);
  guard();
}

void PeerWatch::lose(const Peer& gone) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!lost()) {
    fault_ = text("job: expected all processes to end together, ", gone.name,
                  " has ended before: killed, crashed or out of memory");
    lost_.store(true, std::memory_order_release);
  }
}

void PeerWatch::look() {
  const auto gone = std::find_if(peers_.begin(), peers_.end(), is_gone);
  if (gone != peers_.end()) {
    lose(*gone);
  }
  require_all();
}

const Peer* PeerWatch::wait_for_loss() {
  std::vector<const Peer*> left;
  for (const Peer& peer : peers_) {
    left.push_back(&peer);
  }
  const bool all_wake =
      std::all_of(left.begin(), left.end(), [](const Peer* peer) { return peer->process.descriptor() >= 0; });
  while (true) {
    std::vector<pollfd> entries{{wake_, POLLIN, 0}};
    for (const Peer* peer : left) {
      entries.push_back({peer->process.descriptor(), POLLIN, 0});  // poll passes over negative ones
    }
    poll_until(entries, all_wake ? kForever : kAskAgain);
    if (entries.front().revents != 0) {
      return nullptr;
    }
    for (const Peer* peer : left) {
      if (is_gone(*peer)) {
        return peer;
      }
    }
    std::erase_if(left, [](const Peer* peer) { return peer->process.ended(); });
  }
}

void PeerWatch::guard() {
  std::vector<pollfd> entries{{wake_, POLLIN, 0}};
  if (poll_until(entries, kComeRound)) {
    return;
  }
  const bool explained = is_explained();
  set_end(explained ? End::Silent : End::Spoken);
  kill_stopped();
  stuck_(explained ? "" : fault());
}

bool PeerWatch::is_explained() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
    return peer.card && (peer.card->end() == End::Spoken || peer.card->end() == End::Silent);
  });
}

bool PeerWatch::others_have_spoken() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.card && peer.card->end() == End::Spoken; });
}

void PeerWatch::require_all() const {
  if (lost()) {
    throw CommunicationError(fault());
  }
}

std::string PeerWatch::fault() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return fault_;
}

std::string PeerWatch::blame(const std::vector<int>& ranks, const Progress& wanted) {
  std::string found = stopped(ranks);
  if (found.empty()) {
    std::vector<std::string> absent;
    for (const Peer& peer : peers_) {
      const std::string where = is_among(peer, ranks) && peer.card ? absence(peer.card->progress(), wanted) : "";
      if (!where.empty()) {
        absent.push_back(peer.name + where);
      }
    }
    found = joined(absent);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!found.empty() && fault_.empty()) {
    fault_ = found;
  }
  return found;
}

void PeerWatch::begin(std::uint64_t group, std::int64_t number, const char* name) {
  if (own_) {
    own_->set_progress(group, number, name);
  }
}

void PeerWatch::set_end(End end) {
  if (own_) {
    own_->set_end(end);
  }
}

bool PeerWatch::has_ended(int rank) const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [&](const Peer& peer) { return peer.rank == rank && peer.process.ended(); });
}

std::string PeerWatch::stopped(const std::vector<int>& ranks) const {
  std::vector<std::string> found;
  for (const Peer& peer : peers_) {
    if (is_among(peer, ranks) && peer.process.stopped()) {
      found.push_back(peer.name + " is stopped");
    }
  }
  return joined(found);
}

void PeerWatch::kill_stopped() const {
  for (const Peer& peer : peers_) {
    if (peer.rank != kLauncher && peer.process.stopped()) {
      peer.process.kill();
    }
  }
}

}  // namespace renga::detail
