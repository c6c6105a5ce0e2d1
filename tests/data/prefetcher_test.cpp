// SPDX-License-Identifier: Apache-2.0
#include "src/data/prefetcher.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace renga {
namespace {

using namespace std::chrono_literals;
using data::Piece;
using data::Prefetcher;

Piece numbered(std::int64_t item) { return {at::zeros({1}), at::full({1}, item, at::kLong)}; }

std::int64_t number(const Piece& piece) { return piece.labels.item<std::int64_t>(); }

// Waits for `value` to be `expected`, then a while longer.
void expect_to_stay_at(const std::atomic<int>& value, int expected) {
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (value < expected && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(value, expected);
}

TEST(Prefetcher, HandsOutInOrder) {
  for (const int workers : {0, 1, 2, 5}) {
    for (const int depth : {1, 2, 7}) {
      Prefetcher reader({3, 40}, workers, depth, [](std::int64_t item) {
        std::this_thread::sleep_for(std::chrono::microseconds(item % 5 * 100));
        return numbered(item);
      });
      for (std::int64_t item = 3; item < 40; ++item) {
        const auto piece = reader.next();
        ASSERT_TRUE(piece.has_value());
        EXPECT_EQ(number(*piece), item);
      }
      EXPECT_FALSE(reader.next().has_value());
      EXPECT_FALSE(reader.next().has_value());
    }
  }
}

TEST(Prefetcher, ReadsEachItemOnce) {
  std::vector<std::atomic<int>> reads(30);
  {
    Prefetcher reader({0, 30}, 3, 4, [&](std::int64_t item) {
      ++reads[static_cast<std::size_t>(item)];
      return numbered(item);
    });
    while (reader.next()) {
    }
  }
  for (const auto& count : reads) {
    EXPECT_EQ(count, 1);
  }
}

TEST(Prefetcher, ReadsAheadNoFurtherThanAsked) {
  std::atomic<int> reads = 0;
  Prefetcher reader({0, 100}, 1, 3, [&](std::int64_t item) {
    ++reads;
    return numbered(item);
  });

  expect_to_stay_at(reads, 3);
  reader.next();
  expect_to_stay_at(reads, 4);
}

TEST(Prefetcher, WithoutWorkersReadsWhenAsked) {
  const auto caller = std::this_thread::get_id();
  int reads = 0;
  Prefetcher reader({0, 5}, 0, 2, [&](std::int64_t item) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ++reads;
    return numbered(item);
  });

  EXPECT_EQ(reads, 0);
  reader.next();
  EXPECT_EQ(reads, 1);
}

TEST(Prefetcher, ErrorReachesTheConsumerInItsPlace) {
  for (const int workers : {0, 1, 3}) {
    Prefetcher reader({0, 50}, workers, 4, [](std::int64_t item) {
      if (item == 2) {
        throw std::runtime_error("item 2 is broken");
      }
      return numbered(item);
    });

    EXPECT_EQ(number(*reader.next()), 0);
    EXPECT_EQ(number(*reader.next()), 1);
    EXPECT_THROW(reader.next(), std::runtime_error);
    EXPECT_THROW(reader.next(), std::runtime_error);
  }
}

TEST(Prefetcher, EndsPromptlyInTheMiddle) {
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 20; ++round) {
    Prefetcher reader({0, 1000}, 3, 8, [](std::int64_t item) {
      std::this_thread::sleep_for(5ms);
      return numbered(item);
    });
    if (round % 2 == 0) {
      reader.next();
    }
  }

  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST(Prefetcher, NothingToRead) {
  Prefetcher reader({4, 4}, 2, 2, numbered);

  EXPECT_FALSE(reader.next().has_value());
}

}  // namespace
}  // namespace renga
