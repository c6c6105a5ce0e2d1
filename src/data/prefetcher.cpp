// SPDX-License-Identifier: Apache-2.0
#include "src/data/prefetcher.hpp"

#include <algorithm>
#include <utility>

namespace renga::data {

Prefetcher::Prefetcher(Range items, int workers, int depth, Read read)
    : items_(items),
      read_(std::move(read)),
      slots_(static_cast<std::size_t>(std::max({depth, workers, 1}))),
      next_begun_(items.begin),
      next_taken_(items.begin) {
  const auto threads = std::min<std::int64_t>(workers, items.size());
  for (std::int64_t i = 0; i < threads; ++i) {
    workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

Prefetcher::~Prefetcher() {
  for (auto& worker : workers_) {
    worker.request_stop();  // all at once, so that joining them waits for the slowest only
  }
}

std::optional<Piece> Prefetcher::next() {
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  if (next_taken_ == items_.end) {
    return std::nullopt;
  }
  Slot taken;
  if (workers_.empty()) {
    taken = read_slot(next_taken_++);
  } else {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return slot(next_taken_).ready(); });
    taken = std::exchange(slot(next_taken_), {});
    ++next_taken_;
  }
  room_.notify_one();
  if (taken.error) {
    failure_ = taken.error;
    workers_.clear();  // asks each to stop and joins it
    std::rethrow_exception(failure_);
  }
  return std::move(taken.piece);
}

void Prefetcher::work(const std::stop_token& stop) {
  const auto capacity = static_cast<std::int64_t>(slots_.size());
  std::unique_lock lock(mutex_);
  while (true) {
    const bool may_go_on =
        room_.wait(lock, stop, [&] { return next_begun_ == items_.end || next_begun_ < next_taken_ + capacity; });
    if (!may_go_on || stop.stop_requested() || next_begun_ == items_.end) {
      return;
    }
    const std::int64_t item = next_begun_++;
    lock.unlock();
    Slot read = read_slot(item);
    lock.lock();
    slot(item) = std::move(read);
    ready_.notify_one();
  }
}

Prefetcher::Slot Prefetcher::read_slot(std::int64_t item) const {
  Slot result;
  try {
    result.piece = read_(item);
  } catch (...) {
    result.error = std::current_exception();
  }
  return result;
}

}  // namespace renga::data
