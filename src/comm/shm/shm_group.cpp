// SPDX-License-Identifier: Apache-2.0
#include "shm_group.hpp"

#include "renga/core/error.hpp"

namespace renga::detail {

ShmRanks::ShmRanks(std::shared_ptr<SharedHost> host, std::vector<BlockPlace> places, int rank)
    : host_(std::move(host)), places_(std::move(places)), rank_(rank) {
  for (const BlockPlace& place : places_) {
    blocks_.push_back(&host_->block(place));
  }
}

void ShmRanks::arrive() {
  at(rank_).arrived.store(passed_ + 1, std::memory_order_release);
  next_ = 0;
}

bool ShmRanks::all_here() {
  while (next_ < size() && at(next_).arrived.load(std::memory_order_acquire) > passed_) {
    ++next_;
  }
  if (next_ < size()) {
    return false;
  }
  ++passed_;
  return true;
}

ShmGroup::ShmGroup(std::shared_ptr<SharedHost> host, std::vector<BlockPlace> places, int rank)
    : host_(std::move(host)), ranks_(host_, std::move(places), rank) {
  host_->groups().push_back(this);
}

// A rank that leaves in the middle of an operation keeps its block for good: the others may be in it.
ShmGroup::~ShmGroup() {
  host_->groups().remove(this);
  if (operations_.empty() && !broken_) {
    ranks_.retire();
  }
}

std::shared_ptr<ShmOperation> ShmGroup::start(std::unique_ptr<ShmSteps> steps) {
  if (broken_) {
    throw CommunicationError("an earlier operation of this group failed");
  }
  auto operation = std::make_shared<ShmOperation>(ShmOperation{std::move(steps), 0, false, nullptr});
  operations_.push_back(operation);
  advance();
  return operation;
}

void ShmGroup::advance() {
  while (!operations_.empty() && !broken_) {
    if (waiting_ && !ranks_.all_here()) {
      return;
    }
    ShmOperation& operation = *operations_.front();
    try {
      waiting_ = operation.steps->run(operation.next++, ranks_);
    } catch (const CommunicationError&) {
      operation.error = std::current_exception();
      broken_ = true;
      return;
    }
    if (waiting_) {
      ranks_.arrive();
    } else {
      operation.steps.reset();
      operation.done = true;
      operations_.pop_front();
    }
  }
}

}  // namespace renga::detail
