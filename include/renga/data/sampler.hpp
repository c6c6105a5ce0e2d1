// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "renga/core/partition.hpp"

namespace renga::data {

/// In which order an epoch goes through the samples.
enum class Shuffle {
  EveryEpoch,  ///< a new order each epoch, for training
  Never,       ///< by index, for evaluation
};

/// What becomes of the samples that do not fill a batch.
enum class LastBatch {
  Keep,  ///< they form a smaller batch: every sample exactly once an epoch
  Drop,  ///< they are left out; with shuffling, others each epoch
};

struct SamplerOptions {
  std::int64_t batch_size = 64;  ///< samples of a global batch, over all ranks
  std::uint64_t seed = 0;
  Shuffle shuffle = Shuffle::EveryEpoch;
  LastBatch last_batch = LastBatch::Keep;
};

/// Which samples make each global batch: a pure function of its arguments, the same on every rank,
/// machine and standard library, without communication. Nothing is padded or repeated.
///
/// The order of epoch e is Fisher and Yates's shuffle of 0 … N-1, from the end down, its draws taken from
/// a counter-based generator keyed by (seed, e); see `src/data/counter_random.hpp`.
/// A batch larger than the data set is one batch with all samples, also with `LastBatch::Drop`.
class Sampler {
 public:
  /// @throws InvalidArgument if `dataset_size` or the batch size is below 1
  explicit Sampler(std::int64_t dataset_size, const SamplerOptions& options = {});

  std::int64_t dataset_size() const { return dataset_size_; }
  std::int64_t batches_per_epoch() const;

  /// The order of an epoch: all N sample indices. Cost: O(N), about 10 ns a sample.
  /// @throws InvalidArgument for a negative epoch
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// Batch b of an epoch is this part of its order.
  /// @throws InvalidArgument unless 0 <= batch < batches_per_epoch()
  Range batch_range(std::int64_t batch) const;

  /// Global sample indices of a batch, rank blocks contiguous. Cost: that of `order`; to walk through
  /// an epoch take `order` once.
  std::vector<std::int64_t> batch(std::int64_t epoch, std::int64_t batch) const;

 private:
  std::int64_t dataset_size_;
  SamplerOptions options_;
};

}  // namespace renga::data
