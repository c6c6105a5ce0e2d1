// SPDX-License-Identifier: Apache-2.0
#include "renga/data/sampler.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "renga/core/error.hpp"
#include "renga/core/partition.hpp"

namespace renga {
namespace {

using data::LastBatch;
using data::Sampler;
using data::Shuffle;
using Indices = std::vector<std::int64_t>;

Indices all(std::int64_t size) {
  Indices indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Indices sorted(Indices indices) {
  std::sort(indices.begin(), indices.end());
  return indices;
}

// What the ranks of a data axis read in one epoch, put together.
Indices read_by_ranks(const Sampler& sampler, std::int64_t ranks) {
  Indices read;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (std::int64_t b = 0; b < sampler.batches_per_epoch(); ++b) {
      const auto batch = sampler.batch(1, b);
      const Range own = block(even_cuts(static_cast<std::int64_t>(batch.size()), ranks), rank);
      read.insert(read.end(), batch.begin() + own.begin, batch.begin() + own.end);
    }
  }
  return read;
}

TEST(Sampler, RanksTogetherReadEverySampleOnce) {
  for (const std::int64_t size : {1, 2, 3, 7, 10, 64, 101}) {
    for (const std::int64_t batch : {1, 2, 3, 8, 64, 200}) {
      for (const std::int64_t ranks : {1, 2, 3, 4, 7, 16}) {
        const Sampler sampler(size, {.batch_size = batch, .seed = 5});

        EXPECT_EQ(sorted(read_by_ranks(sampler, ranks)), all(size))
            << size << " samples, batch " << batch << ", " << ranks << " ranks";
      }
    }
  }
}

TEST(Sampler, BatchesAreTheOrderInParts) {
  const Sampler sampler(10, {.batch_size = 4});
  const auto order = sampler.order(2);

  EXPECT_EQ(sampler.batches_per_epoch(), 3);
  EXPECT_EQ(sampler.batch(2, 1), Indices(order.begin() + 4, order.begin() + 8));
  EXPECT_EQ(sampler.batch(2, 2), Indices(order.begin() + 8, order.end()));
}

TEST(Sampler, EpochsAndSeedsChangeTheOrder) {
  const Sampler sampler(50, {.seed = 1});
  const Sampler other(50, {.seed = 2});

  EXPECT_EQ(sampler.order(0), Sampler(50, {.seed = 1}).order(0));
  EXPECT_NE(sampler.order(0), sampler.order(1));
  EXPECT_NE(sampler.order(1), sampler.order(2));
  EXPECT_NE(sampler.order(0), other.order(0));
  EXPECT_NE(sampler.order(1), other.order(0));  // seed and epoch are not just added up
  EXPECT_EQ(sorted(sampler.order(3)), all(50));
}

TEST(Sampler, OrderIsPinned) {
  // Saved runs go on with these orders: they must not change, on any machine.
  EXPECT_EQ(Sampler(8, {.seed = 0}).order(0), (Indices{7, 6, 5, 3, 0, 4, 1, 2}));
  EXPECT_EQ(Sampler(8, {.seed = 42}).order(3), (Indices{5, 4, 0, 6, 2, 1, 7, 3}));
}

TEST(Sampler, EveryPlaceIsEquallyLikely) {
  const std::int64_t size = 5;
  const std::int64_t epochs = 20000;
  std::vector<std::vector<double>> counts(size, std::vector<double>(size));
  const Sampler sampler(size);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto order = sampler.order(epoch);
    for (std::size_t place = 0; place < size; ++place) {
      counts[place][static_cast<std::size_t>(order[place])] += 1;
    }
  }
  for (const auto& row : counts) {
    for (const double count : row) {
      EXPECT_NEAR(count, 4000, 5 * 57);  // five standard deviations of a binomial
    }
  }
}

TEST(Sampler, NeverShuffledIsInOrder) {
  const Sampler sampler(7, {.batch_size = 3, .shuffle = Shuffle::Never});

  EXPECT_EQ(sampler.order(0), all(7));
  EXPECT_EQ(sampler.order(5), all(7));
  EXPECT_EQ(sampler.batch(0, 2), (Indices{6}));
}

TEST(Sampler, DropLeavesOutOtherSamplesEachEpoch) {
  const Sampler sampler(10, {.batch_size = 4, .last_batch = LastBatch::Drop});
  std::vector<int> drawn(10);
  for (std::int64_t epoch = 0; epoch < 30; ++epoch) {
    for (std::int64_t b = 0; b < sampler.batches_per_epoch(); ++b) {
      for (const auto index : sampler.batch(epoch, b)) {
        drawn[static_cast<std::size_t>(index)] += 1;
      }
    }
  }

  EXPECT_EQ(sampler.batches_per_epoch(), 2);
  EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), 30 * 8);
  EXPECT_GT(*std::min_element(drawn.begin(), drawn.end()), 0);
}

TEST(Sampler, BatchLargerThanTheDataSetIsAllOfIt) {
  for (const auto policy : {LastBatch::Keep, LastBatch::Drop}) {
    const Sampler sampler(3, {.batch_size = 100, .last_batch = policy});

    EXPECT_EQ(sampler.batches_per_epoch(), 1);
    EXPECT_EQ(sorted(sampler.batch(0, 0)), all(3));
  }
}

TEST(Sampler, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Sampler(0), InvalidArgument);
  EXPECT_THROW(Sampler(5, {.batch_size = 0}), InvalidArgument);
  EXPECT_THROW(Sampler(5, {.batch_size = -3}), InvalidArgument);
  const Sampler sampler(5, {.batch_size = 2});
  EXPECT_THROW(sampler.order(-1), InvalidArgument);
  EXPECT_THROW(sampler.batch(0, 3), InvalidArgument);
  EXPECT_THROW(sampler.batch(0, -1), InvalidArgument);
}

}  // namespace
}  // namespace renga
