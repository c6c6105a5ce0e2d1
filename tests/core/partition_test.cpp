// SPDX-License-Identifier: Apache-2.0
#include "renga/core/partition.hpp"

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

namespace renga {
namespace {

TEST(Intersect, GivesWhatBothShare) {
  EXPECT_EQ(intersect({0, 5}, {3, 9}), (Range{3, 5}));
  EXPECT_EQ(intersect({3, 9}, {0, 5}), (Range{3, 5}));
  EXPECT_EQ(intersect({0, 9}, {2, 4}), (Range{2, 4}));
}

TEST(Intersect, IsEmptyWhereRangesDoNotTouch) {
  EXPECT_EQ(intersect({0, 2}, {5, 9}).size(), 0);
  EXPECT_EQ(intersect({5, 9}, {0, 2}).size(), 0);
  EXPECT_EQ(intersect({0, 5}, {5, 9}).size(), 0);
}

TEST(EvenCuts, MakesTheFirstBlocksLarger) {
  EXPECT_EQ(even_cuts(10, 3), (Cuts{0, 4, 7, 10}));
  EXPECT_EQ(even_cuts(8, 4), (Cuts{0, 2, 4, 6, 8}));
}

TEST(EvenCuts, LeavesTheLastBlocksEmptyWhenThereAreTooMany) {
  EXPECT_EQ(even_cuts(2, 4), (Cuts{0, 1, 2, 2, 2}));
  EXPECT_EQ(even_cuts(0, 2), (Cuts{0, 0, 0}));
}

TEST(EvenCuts, CoversEveryLengthWithBlocksThatDifferByOneAtMost) {
  for (std::int64_t length = 0; length < 40; ++length) {
    for (std::int64_t blocks = 1; blocks < 9; ++blocks) {
      const Cuts cuts = even_cuts(length, blocks);
      ASSERT_EQ(cuts.size(), static_cast<std::size_t>(blocks) + 1);
      EXPECT_EQ(cuts.front(), 0);
      EXPECT_EQ(cuts.back(), length);
      for (std::int64_t k = 0; k < blocks; ++k) {
        const std::int64_t size = block(cuts, k).size();
        EXPECT_TRUE(size == length / blocks || size == length / blocks + 1);
        EXPECT_LE(size, block(cuts, 0).size());
      }
    }
  }
}

TEST(EvenCuts, RejectsWhatCannotBeCut) {
  EXPECT_THROW(even_cuts(-1, 2), InvalidArgument);
  EXPECT_THROW(even_cuts(3, 0), InvalidArgument);
}

TEST(Block, OutsideTheCutsIsAnInvalidArgument) {
  const Cuts cuts = even_cuts(4, 2);

  EXPECT_EQ(block(cuts, 1), (Range{2, 4}));
  EXPECT_THROW(block(cuts, 2), InvalidArgument);
  EXPECT_THROW(block(cuts, -1), InvalidArgument);
}

}  // namespace
}  // namespace renga
