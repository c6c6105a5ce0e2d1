// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "card.hpp"
#include "peers.hpp"

namespace renga::detail {

/// Watches over the processes of this host on which the job depends, in a thread that sleeps until one is gone.
///
///     a peer is gone without an agreed end
///       → `lost` is true, every wait throws; the main thread comes to the end of the job and says `leaving`
///       → if it does not within two seconds, the thread calls `stuck`, which ends the process
///
/// Apart from that thread, used by the threads that communicate, one at a time.
class PeerWatch {
 public:
  /// Watches nobody.
  PeerWatch() = default;
  /// @param stuck  called by the thread with what to print, "" if others have printed it; must end the process
  PeerWatch(std::vector<Peer> peers, Card own, std::function<void(const std::string& message)> stuck);
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  /// Whether a peer is gone; costs nothing.
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  /// @throws CommunicationError that names the peer that is gone, if one is
  void require_all() const;

  /// As above, but looks now, and does not rely on the thread having been woken. Costs a system call a peer.
  void look();

  /// What is wrong with a peer, as far as it is known: all ranks that suffer from it find the same words. Else "".
  std::string fault() const;
  /// Looks for the ranks of `ranks` that keep the others from ending the collective `wanted`, and remembers what it
  /// finds as the fault: those that are stopped, or else those that are not in it. "" if none is known.
  std::string blame(const std::vector<int>& ranks, const Progress& wanted);

  /// This rank has begun a collective; costs a few stores.
  void begin(std::uint64_t group, std::int64_t number, const char* name);

  /// The main thread is on its way out and needs no guard any more.
  void leaving();
  /// What the others are to think when this process is gone.
  void set_end(End end);

  /// Whether another rank of this host has printed why it failed.
  bool others_have_spoken() const;
  /// Whether this rank is known to be gone.
  bool has_ended(int rank) const;
  /// The names of peers among `ranks` that are stopped.
  std::string stopped(const std::vector<int>& ranks) const;
  /// Ends all peers that are stopped and so cannot end themselves.
  void kill_stopped() const;

 private:
  void watch();
  const Peer* wait_for_loss();
  void lose(const Peer& gone);
  void guard();
  bool is_explained() const;

  std::vector<Peer> peers_;
  std::optional<Card> own_;
  std::function<void(const std::string&)> stuck_;
  std::atomic<bool> lost_{false};
  std::atomic<bool> over_{false};
  mutable std::mutex mutex_;
  std::string fault_;  // guarded by mutex_
  int wake_ = -1;      // readable once the thread is to end
  std::thread thread_;
};

}  // namespace renga::detail
