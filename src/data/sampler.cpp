// SPDX-License-Identifier: Apache-2.0
#include "renga/data/sampler.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "src/data/counter_random.hpp"

namespace renga::data {

Sampler::Sampler(std::int64_t dataset_size, const SamplerOptions& options)
    : dataset_size_(dataset_size), options_(options) {
  if (dataset_size < 1) {
    throw InvalidArgument(text("sampler: data set size: expected at least 1, got ", dataset_size));
  }
  if (options.batch_size < 1) {
    throw InvalidArgument(text("sampler: batch size: expected at least 1, got ", options.batch_size));
  }
  options_.batch_size = std::min(options.batch_size, dataset_size);
}

std::int64_t Sampler::batches_per_epoch() const {
  const std::int64_t whole = dataset_size_ / options_.batch_size;
  const bool rest = dataset_size_ % options_.batch_size != 0;
  return whole + (rest && options_.last_batch == LastBatch::Keep ? 1 : 0);
}

std::vector<std::int64_t> Sampler::order(std::int64_t epoch) const {
  if (epoch < 0) {
    throw InvalidArgument(text("sampler: epoch: expected at least 0, got ", epoch));
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(dataset_size_));
  std::iota(indices.begin(), indices.end(), 0);
  if (options_.shuffle == Shuffle::EveryEpoch) {
    const CounterRandom orders = CounterRandom(options_.seed).derived(kEpochOrders);
    RandomStream random(orders.derived(static_cast<std::uint64_t>(epoch)));
    for (std::size_t last = indices.size() - 1; last > 0; --last) {
      std::swap(indices[last], indices[random.below(last + 1)]);
    }
  }
  return indices;
}

Range Sampler::batch_range(std::int64_t batch) const {
  if (batch < 0 || batch >= batches_per_epoch()) {
    throw InvalidArgument(text("sampler: batch: expected 0 to ", batches_per_epoch() - 1, ", got ", batch));
  }
  const std::int64_t begin = batch * options_.batch_size;
  return {begin, std::min(begin + options_.batch_size, dataset_size_)};
}

std::vector<std::int64_t> Sampler::batch(std::int64_t epoch, std::int64_t batch) const {
  const Range range = batch_range(batch);
  const auto indices = order(epoch);
  return {indices.begin() + range.begin, indices.begin() + range.end};
}

}  // namespace renga::data
