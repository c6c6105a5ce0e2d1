// SPDX-License-Identifier: Apache-2.0
// Sums through shared memory, in the order of the ranks, so that all get the same bits.
#include "reduce.hpp"
#include "shm_steps.hpp"
#include "step_tools.hpp"

namespace renga::detail {
namespace {

// With one barrier each rank adds up everything: best when there is little of it, or few ranks.
constexpr std::int64_t kSmallBytes = 8192;
constexpr int kFewRanks = 3;
constexpr std::int64_t kLine = 64;  // elements: no two ranks write to one cache line

std::int64_t argument_of(at::ScalarType dtype, ReduceOp op) {
  return static_cast<std::int64_t>(dtype) * 16 + static_cast<std::int64_t>(op);
}

class AllReduce : public ShmSteps {
 public:
  AllReduce(at::Tensor buffer, ReduceOp op)
      : buffer_(std::move(buffer)),
        op_(op),
        element_(static_cast<std::int64_t>(buffer_.element_size())),
        bytes_(bytes_of(buffer_)) {}

  bool run(int step, ShmRanks& ranks) override {
    const std::int64_t argument = argument_of(buffer_.scalar_type(), op_);
    if (step == 0) {
      const bool small = bytes_ <= kSmallBytes;
      announce(ranks, ShmKind::AllReduce, argument, bytes_, small ? -1 : ranks.offset_of(buffer_));
      if (small) {
        copy_bytes(ranks.own_slot(), data_of(buffer_), bytes_);
      }
      return true;
    }
    if (step == 1) {
      in_place_ = true;
      for (int r = 0; r < ranks.size(); ++r) {
        require_same_step(ranks, r, ShmKind::AllReduce, argument);
        require_bytes(ranks, r, bytes_);
        in_place_ = in_place_ && ranks.note(r).offset >= 0;
      }
      if (bytes_ <= kSmallBytes) {
        reduce_slots(ranks, {0, bytes_}, data_of(buffer_));
        return false;
      }
    }
    if (in_place_) {
      return step == 1 && reduce_in_place(ranks);
    }
    return ranks.size() <= kFewRanks ? run_symmetric(step - 1, ranks) : run_sliced(step - 1, ranks);
  }

 private:
  // Of a range of bytes, the part that is rank r's to add up.
  Range slice(Range whole, int r, int size) const {
    const std::int64_t elements = whole.bytes / element_;
    const auto cut = [&](int i) { return i == size ? elements : elements * i / size / kLine * kLine; };
    return {whole.begin + cut(r) * element_, (cut(r + 1) - cut(r)) * element_};
  }

  Range chunk(std::int64_t index) const { return piece_of(bytes_, kSlot / element_ * element_, index); }
  std::int64_t chunks() const { return pieces(bytes_, kSlot / element_ * element_); }

  // All ranks' slots, in a range of bytes.
  void reduce_slots(const ShmRanks& ranks, Range range, char* target) const {
    std::vector<const char*> sources;
    for (int r = 0; r < ranks.size(); ++r) {
      sources.push_back(ranks.slot(r) + range.begin);
    }
    reduce(sources, {target}, range.bytes / element_, buffer_.scalar_type(), op_);
  }

  bool reduce_in_place(const ShmRanks& ranks) const {
    const Range own = slice({0, bytes_}, ranks.rank(), ranks.size());
    std::vector<const char*> sources;
    std::vector<char*> targets;
    for (int r = 0; r < ranks.size(); ++r) {
      targets.push_back(ranks.memory(r, ranks.note(r).offset) + own.begin);
      sources.push_back(targets.back());
    }
    reduce(sources, targets, own.bytes / element_, buffer_.scalar_type(), op_);
    return true;
  }

  void copy_in(std::int64_t index, ShmRanks& ranks) const {
    const Range range = chunk(index);
    copy_bytes(ranks.own_slot(), data_of(buffer_) + range.begin, range.bytes);
  }

  // Each barrier brings a chunk, of which every rank adds up all.
  bool run_symmetric(int step, ShmRanks& ranks) const {
    if (step > 0) {
      const Range range = chunk(step - 1);
      reduce_slots(ranks, {0, range.bytes}, data_of(buffer_) + range.begin);
    }
    if (step == chunks()) {
      return false;
    }
    copy_in(step, ranks);
    return true;
  }

  // A chunk takes two barriers: after the first each rank adds up its slice, after the second all take them.
  bool run_sliced(int step, ShmRanks& ranks) const {
    const std::int64_t index = step / 2;
    if (step % 2 == 1) {
      const Range own = slice({0, chunk(index).bytes}, ranks.rank(), ranks.size());
      reduce_slots(ranks, own, ranks.own_slot() + own.begin);
      return true;
    }
    if (index > 0) {
      const Range done = chunk(index - 1);
      for (int r = 0; r < ranks.size(); ++r) {
        const Range part = slice({0, done.bytes}, r, ranks.size());
        copy_bytes(data_of(buffer_) + done.begin + part.begin, ranks.slot(r) + part.begin, part.bytes);
      }
    }
    if (index == chunks()) {
      return false;
    }
    copy_in(index, ranks);
    return true;
  }

  at::Tensor buffer_;
  ReduceOp op_;
  std::int64_t element_;
  std::int64_t bytes_;
  bool in_place_ = false;
};

// Each rank's slot has a part for every other rank.
class ReduceScatter : public ShmSteps {
 public:
  ReduceScatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op)
      : output_(std::move(output)),
        inputs_(std::move(inputs)),
        op_(op),
        element_(static_cast<std::int64_t>(output_.element_size())),
        part_(kSlot / static_cast<std::int64_t>(inputs_.size()) / kLine * kLine / element_ * element_) {
    for (const at::Tensor& input : inputs_) {
      chunks_ = std::max(chunks_, pieces(bytes_of(input), part_));
      total_ += bytes_of(input);
    }
  }

  bool run(int step, ShmRanks& ranks) override {
    const std::int64_t argument = argument_of(output_.scalar_type(), op_);
    if (step == 0) {
      announce(ranks, ShmKind::ReduceScatter, argument, total_);
    }
    if (step == 1) {
      for (int r = 0; r < ranks.size(); ++r) {
        require_same_step(ranks, r, ShmKind::ReduceScatter, argument);
        require_bytes(ranks, r, total_);
      }
    }
    if (step > 0) {
      const Range range = piece_of(bytes_of(output_), part_, step - 1);
      std::vector<const char*> sources;
      for (int r = 0; r < ranks.size(); ++r) {
        sources.push_back(ranks.slot(r) + part_ * ranks.rank());
      }
      reduce(sources, {data_of(output_) + range.begin}, range.bytes / element_, output_.scalar_type(), op_);
    }
    if (step >= std::max<std::int64_t>(chunks_, 1)) {
      return false;
    }
    for (std::size_t r = 0; r < inputs_.size(); ++r) {
      const Range range = piece_of(bytes_of(inputs_[r]), part_, step);
      copy_bytes(ranks.own_slot() + part_ * static_cast<std::int64_t>(r), data_of(inputs_[r]) + range.begin,
                 range.bytes);
    }
    return true;
  }

 private:
  at::Tensor output_;
  std::vector<at::Tensor> inputs_;
  ReduceOp op_;
  std::int64_t element_;
  std::int64_t part_;
  std::int64_t chunks_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace

std::unique_ptr<ShmSteps> all_reduce_steps(at::Tensor buffer, ReduceOp op) {
  return std::make_unique<AllReduce>(std::move(buffer), op);
}

std::unique_ptr<ShmSteps> reduce_scatter_steps(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op) {
  return std::make_unique<ReduceScatter>(std::move(output), std::move(inputs), op);
}

}  // namespace renga::detail
