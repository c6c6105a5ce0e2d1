// SPDX-License-Identifier: Apache-2.0
#include "peer_process.hpp"

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

struct Status {
  char state = '?';  // R, S, D, Z, T, ...
  int parent = 0;
  std::uint64_t started = 0;
};

std::optional<Status> read_status(int process) {
  std::ifstream file(text("/proc/", process, "/stat"));
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  // "1234 (name, which may hold anything) S 1 ..."; the start is the 22nd field.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  Status status;
  fields >> status.state >> status.parent;
  std::string skipped;
  for (int field = 5; field < 22; ++field) {
    fields >> skipped;
  }
  fields >> status.started;
  return status;
}

std::optional<Status> read_status(const ProcessId& process) {
  const auto status = read_status(process.number);
  return status && status->started == process.started ? status : std::nullopt;
}

}  // namespace

ProcessId identify_process(int number) {
  const auto status = read_status(number);
  return status ? ProcessId{number, status->started} : ProcessId{};
}

ProcessId own_process() { return identify_process(::getpid()); }

ProcessId parent_process() { return identify_process(::getppid()); }

std::string program_name(const ProcessId& process) {
  std::ifstream file(text("/proc/", process.number, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

PeerProcess::PeerProcess(ProcessId id)
    : id_(id), descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, id.number, 0))) {
  // Looked at after it was opened: from here on the descriptor means the process that is meant, or nothing.
  if (descriptor_ >= 0 && !read_status(id_)) {
    ::close(std::exchange(descriptor_, -1));
  }
}

PeerProcess::~PeerProcess() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : id_(other.id_), descriptor_(std::exchange(other.descriptor_, -1)) {}

bool PeerProcess::ended() const {
  if (descriptor_ >= 0) {
    pollfd entry{descriptor_, POLLIN, 0};
    return ::poll(&entry, 1, 0) > 0;
  }
  const auto status = read_status(id_);
  return !status || status->state == 'Z' || status->state == 'X';
}

bool PeerProcess::stopped() const {
  const auto status = read_status(id_);
  return status && (status->state == 'T' || status->state == 't');
}

void PeerProcess::kill() const {
  if (descriptor_ >= 0) {
    ::syscall(SYS_pidfd_send_signal, descriptor_, SIGKILL, nullptr, 0);
  } else if (!ended()) {
    ::kill(id_.number, SIGKILL);
  }
}

}  // namespace renga::detail
