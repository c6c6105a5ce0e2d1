// SPDX-License-Identifier: Apache-2.0
#include "renga/checkpoint/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "sync.hpp"

namespace renga {
namespace {

// Linux moves at most 0x7ffff000 bytes a call; smaller steps also keep a signal's delay short.
constexpr std::size_t kLargestWrite = std::size_t{1} << 28;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

// Some network and FUSE file systems cannot do it; the data is then as safe as they make it.
bool is_unsupported(int error_number) {
  return error_number == EINVAL || error_number == ENOTSUP || error_number == ENOSYS;
}

int sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno != EINTR) {
      return is_unsupported(errno) ? 0 : errno;
    }
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

int open_retrying(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// The way to an open file for which no right is needed but to have opened it.
std::string way_to(int descriptor) { return text("/proc/self/fd/", descriptor); }

// Negative where there are no such files, or no way to name one later.
int open_nameless(const std::string& folder) {
  const int descriptor = open_retrying(folder, O_WRONLY | O_TMPFILE);
  if (descriptor >= 0 && ::access(way_to(descriptor).c_str(), F_OK) != 0) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

int give_name(int descriptor, const std::string& path) {
  return ::linkat(AT_FDCWD, way_to(descriptor).c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

}  // namespace

int detail::sync_folder_of(const std::string& path) {
  const int descriptor = open_retrying(folder_of(path), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) {
    return errno == EACCES ? 0 : errno;  // a folder one may write but not read
  }
  const int result = sync(descriptor);
  ::close(descriptor);
  return result;
}

AtomicFile::AtomicFile(std::string path, Temporary temporary)
    : path_(std::move(path)), temporary_(text(path_, ".tmp-", ::getpid())) {
  if (temporary == Temporary::Nameless) {
    descriptor_ = open_nameless(folder_of(path_));
    is_nameless_ = descriptor_ >= 0;
  }
  if (!is_nameless_) {
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_TRUNC);
  }
  if (descriptor_ < 0) {
    throw FileError(text("write: ", path_, ": cannot create the file: ", reason(errno)));
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
    if (!is_nameless_) {
      ::unlink(temporary_.c_str());
    }
  }
}

void AtomicFile::fail(const char* what, int error_number) {
  discard();
  throw FileError(text("write: ", path_, ": ", what, ": ", reason(error_number)));
}

void AtomicFile::write(const void* data, std::size_t size) {
  if (descriptor_ < 0) {
    throw InvalidArgument(text("write: ", path_, ": the file is already closed"));
  }
  const auto* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, next, std::min(size, kLargestWrite));
    if (written > 0) {
      next += written;
      size -= static_cast<std::size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      fail("cannot write", written == 0 ? EIO : errno);
    }
  }
}

void AtomicFile::commit() {
  if (descriptor_ < 0) {
    throw InvalidArgument(text("write: ", path_, ": the file is already closed"));
  }
  if (const int error = sync(descriptor_); error != 0) {
    fail("cannot bring the data to the disk", error);
  }
  if (const int error = put_into_place(); error != 0) {
    fail("cannot put the file into place", error);
  }
  if (const int error = detail::sync_folder_of(path_); error != 0) {
    fail("the file is written, but its folder cannot be brought to the disk", error);
  }
}

// Closes the file. A name can be given, but not taken from another file, so an older one is replaced in a second step.
int AtomicFile::put_into_place() {
  int error = 0;
  if (is_nameless_) {
    ::unlink(temporary_.c_str());  // left behind by another process of this number
    error = give_name(descriptor_, path_);
    if (error != EEXIST) {
      ::close(std::exchange(descriptor_, -1));
      return error;
    }
    error = give_name(descriptor_, temporary_);
  }
  // Network file systems may report a full disk only now. The descriptor is gone either way.
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (error == 0 && closed != 0 && errno != EINTR) {
    error = errno;
  }
  if (error == 0 && std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary_.c_str());
  }
  return error;
}

}  // namespace renga
