// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/communicator.hpp"

#include "block.hpp"
#include "heap.hpp"
#include "segment.hpp"

namespace renga::detail {

/// Where a member of a host keeps its block for a group.
struct BlockPlace {
  std::int64_t member = 0;
  std::int64_t offset = 0;
  std::int64_t group = 0;  ///< how many groups the block has served, with this one
};

/// Something that goes on while this process waits for anything.
class Progressing {
 public:
  virtual ~Progressing() = default;
  virtual void advance() = 0;
};

/// Processes of one host, each with a segment that all of them have mapped.
class SharedHost : public std::enable_shared_from_this<SharedHost> {
 public:
  /// Collective over `ranks`, which become the members, in their order.
  /// @throws NotAvailable on every rank if one cannot share its memory, or they are on several hosts
  static std::shared_ptr<SharedHost> open(const Communicator& ranks);

  /// Memory of this process in its segment; ordinary memory when that is full.
  at::Tensor allocate(std::int64_t elements, at::ScalarType dtype);
  /// Where in this process' segment a contiguous tensor lies; -1 if it does not.
  std::int64_t offset_of(const at::Tensor& tensor) const;
  /// @param offset  in the segment of `member`
  char* memory(std::int64_t member, std::int64_t offset) const;
  Block& block(const BlockPlace& place) const;

  /// A block for a new group. @throws CommunicationError if the segment is full
  BlockPlace take_block();
  /// Lets go of it. It serves again when all of `group` have done so: a slow one may still read.
  void retire_block(const BlockPlace& own, const std::vector<BlockPlace>& group);

  /// Moves every group of this process on.
  void progress();
  std::list<Progressing*>& groups() { return groups_; }

 private:
  struct Retired {
    BlockPlace own;
    std::vector<BlockPlace> group;
  };
  SharedHost(std::vector<Segment> segments, std::size_t own);
  std::optional<std::size_t> take(std::size_t bytes);

  std::vector<Segment> segments_;
  std::size_t own_;
  Heap heap_;
  std::size_t populated_ = 0;
  std::vector<Retired> retired_;
  std::list<Progressing*> groups_;
};

}  // namespace renga::detail
