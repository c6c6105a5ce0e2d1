// SPDX-License-Identifier: Apache-2.0
// Collectives that only move data, through shared memory.
#include "shm_steps.hpp"
#include "step_tools.hpp"

namespace renga::detail {
namespace {

class AllGather : public ShmSteps {
 public:
  AllGather(std::vector<at::Tensor> outputs, at::Tensor input)
      : outputs_(std::move(outputs)), input_(std::move(input)) {
    for (const at::Tensor& output : outputs_) {
      chunks_ = std::max(chunks_, pieces(bytes_of(output), kSlot));
    }
  }

  bool run(int step, ShmRanks& ranks) override {
    if (step == 0) {
      announce(ranks, ShmKind::AllGather, 0, bytes_of(input_));
      const at::Tensor& own = outputs_[static_cast<std::size_t>(ranks.rank())];
      if (input_.numel() > 0 && own.data_ptr() != input_.data_ptr()) {
        std::memmove(own.data_ptr(), input_.data_ptr(), input_.nbytes());
      }
    }
    for (int r = 0; step > 0 && r < ranks.size(); ++r) {
      const at::Tensor& output = outputs_[static_cast<std::size_t>(r)];
      if (step == 1) {
        require_same_step(ranks, r, ShmKind::AllGather, 0);
        require_bytes(ranks, r, bytes_of(output));
      }
      if (r != ranks.rank()) {
        const Range range = piece_of(bytes_of(output), kSlot, step - 1);
        copy_bytes(data_of(output) + range.begin, ranks.slot(r), range.bytes);
      }
    }
    if (step >= std::max<std::int64_t>(chunks_, 1)) {
      return false;
    }
    const Range range = piece_of(bytes_of(input_), kSlot, step);
    copy_bytes(ranks.own_slot(), data_of(input_) + range.begin, range.bytes);
    return true;
  }

 private:
  std::vector<at::Tensor> outputs_;
  at::Tensor input_;
  std::int64_t chunks_ = 0;
};

// Each rank's slot has a part for every other rank. How many pieces it takes is known after a first barrier.
class AllToAll : public ShmSteps {
 public:
  AllToAll(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs)
      : outputs_(std::move(outputs)),
        inputs_(std::move(inputs)),
        part_(kSlot / static_cast<std::int64_t>(inputs_.size()) / 64 * 64) {}

  bool run(int step, ShmRanks& ranks) override {
    if (step == 0) {
      std::int64_t largest = 0;
      for (int r = 0; r < ranks.size(); ++r) {
        largest = std::max(largest, r == ranks.rank() ? 0 : bytes_of(inputs_[static_cast<std::size_t>(r)]));
      }
      announce(ranks, ShmKind::AllToAll, 0, largest);
      copy_own(ranks.rank());
      return true;
    }
    if (step == 1) {
      for (int r = 0; r < ranks.size(); ++r) {
        require_same_step(ranks, r, ShmKind::AllToAll, 0);
        chunks_ = std::max(chunks_, pieces(ranks.note(r).bytes, part_));
      }
    }
    const std::int64_t index = step - 1;
    if (index > 0) {
      copy_out(index - 1, ranks);
    }
    if (index >= chunks_) {
      return false;
    }
    copy_in(index, ranks);
    return true;
  }

 private:
  void copy_own(int rank) const {
    const auto own = static_cast<std::size_t>(rank);
    if (inputs_[own].numel() > 0 && outputs_[own].data_ptr() != inputs_[own].data_ptr()) {
      std::memmove(outputs_[own].data_ptr(), inputs_[own].data_ptr(), inputs_[own].nbytes());
    }
  }

  void copy_in(std::int64_t index, ShmRanks& ranks) const {
    for (int r = 0; r < ranks.size(); ++r) {
      const at::Tensor& input = inputs_[static_cast<std::size_t>(r)];
      const Range range = piece_of(r == ranks.rank() ? 0 : bytes_of(input), part_, index);
      copy_bytes(ranks.own_slot() + part_ * r, data_of(input) + range.begin, range.bytes);
    }
  }

  void copy_out(std::int64_t index, const ShmRanks& ranks) const {
    for (int r = 0; r < ranks.size(); ++r) {
      const at::Tensor& output = outputs_[static_cast<std::size_t>(r)];
      const Range range = piece_of(r == ranks.rank() ? 0 : bytes_of(output), part_, index);
      copy_bytes(data_of(output) + range.begin, ranks.slot(r) + part_ * ranks.rank(), range.bytes);
    }
  }

  std::vector<at::Tensor> outputs_;
  std::vector<at::Tensor> inputs_;
  std::int64_t part_;
  std::int64_t chunks_ = 0;
};

class Broadcast : public ShmSteps {
 public:
  Broadcast(at::Tensor buffer, int root) : buffer_(std::move(buffer)), root_(root) {}

  bool run(int step, ShmRanks& ranks) override {
    if (step == 0) {
      announce(ranks, ShmKind::Broadcast, root_, bytes_of(buffer_));
    }
    if (step == 1) {
      for (int r = 0; r < ranks.size(); ++r) {
        require_same_step(ranks, r, ShmKind::Broadcast, root_);
        require_bytes(ranks, r, bytes_of(buffer_));
      }
    }
    const bool is_root = ranks.rank() == root_;
    if (step > 0 && !is_root) {
      const Range range = piece_of(bytes_of(buffer_), kSlot, step - 1);
      copy_bytes(data_of(buffer_) + range.begin, ranks.slot(root_), range.bytes);
    }
    if (step >= std::max<std::int64_t>(pieces(bytes_of(buffer_), kSlot), 1)) {
      return false;
    }
    if (is_root) {
      const Range range = piece_of(bytes_of(buffer_), kSlot, step);
      copy_bytes(ranks.own_slot(), data_of(buffer_) + range.begin, range.bytes);
    }
    return true;
  }

 private:
  at::Tensor buffer_;
  int root_;
};

class Barrier : public ShmSteps {
 public:
  bool run(int step, ShmRanks& ranks) override {
    if (step == 0) {
      announce(ranks, ShmKind::Barrier, 0, 0);
      return true;
    }
    for (int r = 0; r < ranks.size(); ++r) {
      require_same_step(ranks, r, ShmKind::Barrier, 0);
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<ShmSteps> all_gather_steps(std::vector<at::Tensor> outputs, at::Tensor input) {
  return std::make_unique<AllGather>(std::move(outputs), std::move(input));
}

std::unique_ptr<ShmSteps> all_to_all_steps(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) {
  return std::make_unique<AllToAll>(std::move(outputs), std::move(inputs));
}

std::unique_ptr<ShmSteps> broadcast_steps(at::Tensor buffer, int root) {
  return std::make_unique<Broadcast>(std::move(buffer), root);
}

std::unique_ptr<ShmSteps> barrier_steps() { return std::make_unique<Barrier>(); }

}  // namespace renga::detail
