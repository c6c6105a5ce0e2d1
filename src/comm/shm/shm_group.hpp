// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "block.hpp"
#include "shared_host.hpp"

namespace renga::detail {

/// What the operations of a group see: its ranks' blocks at the present barrier.
class ShmRanks {
 public:
  ShmRanks(std::shared_ptr<SharedHost> host, std::vector<BlockPlace> places, int rank);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(blocks_.size()); }

  /// What rank `r` announced with the barrier that was passed last.
  const Note& note(int r) const { return at(r).notes[passed_ % 2]; }
  const char* slot(int r) const { return at(r).slots[passed_ % 2].data(); }
  /// What this rank announces with its next barrier.
  Note& own_note() { return at(rank_).notes[(passed_ + 1) % 2]; }
  char* own_slot() { return at(rank_).slots[(passed_ + 1) % 2].data(); }
  /// Memory of another rank's tensor, as its note says.
  char* memory(int r, std::int64_t offset) const {
    return host_->memory(places_[static_cast<std::size_t>(r)].member, offset);
  }
  std::int64_t offset_of(const at::Tensor& tensor) const { return host_->offset_of(tensor); }

  /// Says that this rank is at its next barrier.
  void arrive();
  /// Whether all ranks have come to it.
  bool all_here();
  void retire() { host_->retire_block(places_[static_cast<std::size_t>(rank_)], places_); }

 private:
  Block& at(int r) const { return *blocks_[static_cast<std::size_t>(r)]; }

  std::shared_ptr<SharedHost> host_;
  std::vector<BlockPlace> places_;
  std::vector<Block*> blocks_;
  int rank_;
  std::uint64_t passed_ = 0;  ///< barriers
  int next_ = 0;              ///< ranks below have come
};

/// One rank's part in an operation: what it does between barriers.
class ShmSteps {
 public:
  virtual ~ShmSteps() = default;
  /// @param step  0, 1, …; @returns whether a barrier of all ranks and another step follow
  virtual bool run(int step, ShmRanks& ranks) = 0;
};

/// An operation that was started.
struct ShmOperation {
  std::unique_ptr<ShmSteps> steps;
  int next = 0;
  bool done = false;
  std::exception_ptr error;
};

/// The operations of one group, which go on one after the other: the same order on every rank.
class ShmGroup : public Progressing {
 public:
  ShmGroup(std::shared_ptr<SharedHost> host, std::vector<BlockPlace> places, int rank);
  ~ShmGroup() override;
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  std::shared_ptr<ShmOperation> start(std::unique_ptr<ShmSteps> steps);
  /// As far as the other ranks let it.
  void advance() override;

 private:
  std::shared_ptr<SharedHost> host_;
  ShmRanks ranks_;
  std::deque<std::shared_ptr<ShmOperation>> operations_;
  bool waiting_ = false;  ///< at a barrier
  bool broken_ = false;
};

}  // namespace renga::detail
