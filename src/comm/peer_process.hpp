// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace renga::detail {

/// A process of this host. The time of its start tells it from a later one that was given the same number.
struct ProcessId {
  int number = 0;
  std::uint64_t started = 0;  ///< clock ticks since the host's start
};

/// The process that has this number now; number 0 if there is none, or /proc does not tell.
ProcessId identify_process(int number);

/// This process, and the one that started it.
ProcessId own_process();
ProcessId parent_process();

/// The name of its program, "" if it cannot be read.
std::string program_name(const ProcessId& process);

/// A hold on another process, which is never one that took over its number.
class PeerProcess {
 public:
  explicit PeerProcess(ProcessId id);
  ~PeerProcess();
  PeerProcess(PeerProcess&& other) noexcept;
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;
  PeerProcess& operator=(PeerProcess&&) = delete;

  const ProcessId& id() const { return id_; }

  /// Becomes readable for `poll` when the process ends; negative where the kernel (before Linux 5.3) has no such thing:
  /// then `ended` has to be asked now and then.
  int descriptor() const { return descriptor_; }

  bool ended() const;

  /// Whether SIGSTOP, a debugger or the like holds it.
  bool stopped() const;

  /// Ends it with SIGKILL, also when it is stopped. Does nothing when it has ended.
  void kill() const;

 private:
  ProcessId id_;
  int descriptor_ = -1;
};

}  // namespace renga::detail
