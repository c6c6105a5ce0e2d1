// SPDX-License-Identifier: Apache-2.0
#include "segment.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

[[noreturn]] void fail(const char* what) { throw NotAvailable(text("shm: ", what, ": ", std::strerror(errno))); }

// A limit on the size of files holds here, too, and is enforced by a signal that ends the process.
std::size_t allowed(std::size_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return std::min<std::size_t>(bytes, limit.rlim_cur);
  }
  return bytes;
}

}  // namespace

Segment::Segment(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (address == MAP_FAILED) {
    const int reason = errno;
    close(descriptor);
    errno = reason;
    fail("cannot map memory");
  }
  data_ = static_cast<char*>(address);
  madvise(address, bytes, MADV_HUGEPAGE);  // where the system lets shared memory have large pages
}

Segment Segment::create(std::size_t bytes) {
  const int descriptor = memfd_create("renga", MFD_CLOEXEC);
  if (descriptor < 0) {
    fail("cannot make memory to share");
  }
  const std::size_t size = allowed(bytes);
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    close(descriptor);
    fail("cannot make memory to share");
  }
  return Segment(descriptor, size);
}

Segment Segment::open(const SegmentName& name) {
  const std::string path = text("/proc/", name.process, "/fd/", name.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    fail(("cannot open another process' memory, " + path).c_str());
  }
  return Segment(descriptor, name.bytes);
}

Segment::Segment(Segment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(std::exchange(other.bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  return *this;
}

Segment::~Segment() {
  if (data_ != nullptr) {
    munmap(data_, bytes_);
    close(descriptor_);
  }
}

SegmentName Segment::name() const { return {getpid(), descriptor_, bytes_}; }

bool Segment::populate(std::size_t begin, std::size_t end) const {
  return fallocate(descriptor_, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0;
}

}  // namespace renga::detail
