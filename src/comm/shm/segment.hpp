// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace renga::detail {

/// How another process on this host finds a segment.
struct SegmentName {
  std::int64_t process = 0;
  std::int64_t descriptor = 0;
  std::uint64_t bytes = 0;
};

/// Memory that processes of one host share. It has no name in any folder, so nothing stays behind however a process
/// ends, and a small /dev/shm does not matter: Linux frees it with the last process that has it.
class Segment {
 public:
  /// Memory of this process, all 0. Takes address space only; pages come with `populate`.
  /// @throws NotAvailable with the system's reason
  static Segment create(std::size_t bytes);
  /// That of another process, which must be alive.
  /// @throws NotAvailable with the system's reason
  static Segment open(const SegmentName& name);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  SegmentName name() const;

  /// Gives the bytes from `begin` to `end` pages of their own; without, the first access could end the process when
  /// memory is short. False if there is not enough.
  bool populate(std::size_t begin, std::size_t end) const;

 private:
  Segment(int descriptor, std::size_t bytes);
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  char* data_ = nullptr;
};

}  // namespace renga::detail
