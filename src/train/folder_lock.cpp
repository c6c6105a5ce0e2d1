// SPDX-License-Identifier: Apache-2.0
#include "folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kPause{50};

// False while another process has it.
bool try_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

}  // namespace

FolderLock::FolderLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    throw FileError(text("run: ", path, ": cannot open the folder: ", std::generic_category().message(errno)));
  }
  const auto end = Clock::now() + kPatience;
  while (!try_lock(descriptor_)) {
    if (Clock::now() > end) {
      ::close(descriptor_);
      throw FileError(text("run: ", path, ": another process is training in this folder; end it first"));
    }
    std::this_thread::sleep_for(kPause);
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace renga::train
