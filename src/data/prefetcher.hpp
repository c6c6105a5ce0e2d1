// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "renga/core/partition.hpp"

#include "src/data/piece.hpp"

namespace renga::data {

/// Reads pieces ahead in worker threads and hands them out in order.
///
///     taken | ready or being read (at most `depth`) | not begun
///           ^ next_taken_                           ^ next_begun_ moves towards items_.end
class Prefetcher {
 public:
  using Read = std::function<Piece(std::int64_t item)>;

  /// @param items    read in this order, each once
  /// @param workers  threads; 0: `next` reads
  /// @param depth    pieces held or being read at most; at least `workers` is used
  /// @param read     called by several threads at once
  Prefetcher(Range items, int workers, int depth, Read read);

  /// Stops the workers; waits for the reads they are at.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next piece, none after the last. One consumer.
  /// @throws what reading it threw, and that again from then on
  std::optional<Piece> next();

 private:
  struct Slot {
    std::optional<Piece> piece;
    std::exception_ptr error;
    bool ready() const { return piece.has_value() || error != nullptr; }
  };

  void work(const std::stop_token& stop);
  Slot read_slot(std::int64_t item) const;
  Slot& slot(std::int64_t item) { return slots_[static_cast<std::size_t>(item) % slots_.size()]; }

  Range items_;
  Read read_;
  std::vector<Slot> slots_;
  std::int64_t next_begun_;
  std::int64_t next_taken_;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable ready_;
  std::vector<std::jthread> workers_;
};

}  // namespace renga::data
