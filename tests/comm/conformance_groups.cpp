// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

RENGA_CONFORMANCE(Groups);

double sum_of_ranks(const Communicator& group, int value) {
  const at::Tensor tensor = at::full({}, value, at::kDouble);
  group.all_reduce(tensor);
  return tensor.item<double>();
}

TEST_P(Groups, SplitMakesUnevenGroups) {
  const Communicator ranks = open();
  const bool alone = ranks.rank() == 0;

  const Communicator group = ranks.split(alone ? 0 : 1, ranks.rank());

  EXPECT_EQ(group.size(), alone ? 1 : ranks.size() - 1);
  EXPECT_EQ(group.rank(), alone ? 0 : ranks.rank() - 1);
  EXPECT_EQ(sum_of_ranks(group, ranks.rank()), alone ? 0 : ranks.size() * (ranks.size() - 1) / 2);
}

TEST_P(Groups, KeysOrderTheRanksAndTiesKeepTheirs) {
  const Communicator ranks = open();

  EXPECT_EQ(ranks.split(0, -ranks.rank()).rank(), ranks.size() - 1 - ranks.rank());
  EXPECT_EQ(ranks.split(0, 7).rank(), ranks.rank());
}

TEST_P(Groups, ANegativeColorGivesAGroupOfOne) {
  const Communicator ranks = open();
  const int last = ranks.size() - 1;

  const Communicator group = ranks.split(ranks.rank() == last ? -1 : 0, 0);

  EXPECT_EQ(group.size(), ranks.rank() == last ? 1 : last);
  EXPECT_EQ(sum_of_ranks(group, 1), group.size());
}

TEST_P(Groups, AGroupSplitsAgain) {
  const Communicator ranks = open();
  const Communicator half = ranks.split(ranks.rank() / 2, ranks.rank());

  const Communicator one = half.split(half.rank(), 0);

  EXPECT_EQ(half.size(), ranks.rank() / 2 == ranks.size() / 2 ? ranks.size() % 2 : 2);
  EXPECT_EQ(one.size(), 1);
}

TEST_P(Groups, OutlivesTheOneItCameFrom) {
  std::optional<Communicator> ranks = open();
  const Communicator group = ranks->split(0, 0);
  ranks.reset();

  EXPECT_EQ(sum_of_ranks(group, 2), 2 * group.size());
}

TEST_P(Groups, OneHostHoldsAllRanks) {
  const Communicator ranks = open();

  EXPECT_EQ(ranks.intra_rank(), ranks.rank());
  EXPECT_EQ(ranks.intra_size(), ranks.size());
  EXPECT_EQ(ranks.inter_rank(), 0);
  EXPECT_EQ(ranks.inter_size(), 1);
  EXPECT_GE(ranks.host_cores(), 1);
}

TEST_P(Groups, HostsAreNumberedByTheirLowestRank) {
  const Communicator probe = open();
  // Rank 0 on "z", all others on "a": the order of names does not count.
  const bool first = probe.rank() == 0;

  const Communicator ranks = GetParam().open(Settings(), first ? "z" : "a");

  EXPECT_EQ(ranks.inter_rank(), first ? 0 : 1);
  EXPECT_EQ(ranks.inter_size(), ranks.size() == 1 ? 1 : 2);
  EXPECT_EQ(ranks.intra_rank(), first ? 0 : ranks.rank() - 1);
  EXPECT_EQ(ranks.intra_size(), first ? 1 : ranks.size() - 1);
}

TEST_P(Groups, PartsKnowTheHostsOfTheirOwnRanks) {
  const Communicator probe = open();
  const Communicator ranks = GetParam().open(Settings(), "host" + std::to_string(probe.rank() % 2));

  const Communicator reversed = ranks.split(0, -ranks.rank());
  const Communicator host = ranks.split(ranks.inter_rank(), ranks.rank());

  EXPECT_EQ(reversed.inter_rank(), (reversed.size() - 1 - ranks.rank()) % 2);
  EXPECT_EQ(reversed.inter_size(), ranks.inter_size());
  EXPECT_EQ(host.inter_size(), 1);
  EXPECT_EQ(host.intra_size(), ranks.intra_size());
}

TEST_P(Groups, AllocatesMemory) {
  const Communicator ranks = open();

  const at::Tensor memory = ranks.allocate(5, at::kHalf);

  EXPECT_EQ(memory.sizes(), at::IntArrayRef({5}));
  EXPECT_EQ(memory.scalar_type(), at::kHalf);
  EXPECT_EQ(ranks.allocate(0, at::kLong).numel(), 0);
  EXPECT_THROW(ranks.allocate(-1, at::kLong), InvalidArgument);
}

}  // namespace
}  // namespace renga::test
