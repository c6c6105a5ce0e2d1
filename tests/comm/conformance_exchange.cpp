// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

RENGA_CONFORMANCE(Exchange);

// What rank `from` sends to rank `to`: sizes differ for every pair, and some are empty.
at::Tensor parcel(int from, int to, at::ScalarType dtype) { return numbers({(from + 2 * to) % 3, 3}, dtype, from, to); }

std::vector<at::Tensor> parcels_from(int from, const Communicator& ranks, at::ScalarType dtype) {
  std::vector<at::Tensor> all;
  for (int to = 0; to < ranks.size(); ++to) {
    all.push_back(parcel(from, to, dtype));
  }
  return all;
}

TEST_P(Exchange, AllGatherBringsShapesAndValues) {
  const Communicator ranks = open();
  for (const at::ScalarType dtype : all_dtypes()) {
    const auto got = ranks.all_gather(numbers({ranks.rank(), 2}, dtype, ranks.rank()));

    ASSERT_EQ(got.size(), static_cast<std::size_t>(ranks.size()));
    for (int from = 0; from < ranks.size(); ++from) {
      EXPECT_TRUE(same(got[static_cast<std::size_t>(from)], numbers({from, 2}, dtype, from)));
    }
  }
}

TEST_P(Exchange, AllGatherTakesRanksOfAnyDim) {
  const Communicator ranks = open();
  // A scalar from rank 0, a vector from rank 1, a matrix from rank 2, ...
  const auto sizes = [](int rank) { return std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2); };

  const auto got = ranks.all_gather(numbers(sizes(ranks.rank()), at::kInt, ranks.rank()));

  for (int from = 0; from < ranks.size(); ++from) {
    EXPECT_TRUE(same(got[static_cast<std::size_t>(from)], numbers(sizes(from), at::kInt, from)));
  }
}

TEST_P(Exchange, AllGatherGivesCopies) {
  const Communicator ranks = open();
  const at::Tensor tensor = at::zeros({2});

  const auto got = ranks.all_gather(tensor);
  got[static_cast<std::size_t>(ranks.rank())].fill_(1);

  EXPECT_TRUE(same(tensor, at::zeros({2})));
}

TEST_P(Exchange, AllGatherIntoFillsAnyLayout) {
  const Communicator ranks = open();
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    std::vector<at::Tensor> outputs;
    for (int from = 0; from < ranks.size(); ++from) {
      outputs.push_back(layout.arrange(at::zeros({2, 3, from, 5}, at::kComplexDouble)));
    }
    const at::Tensor input = numbers({2, 3, ranks.rank(), 5}, at::kComplexDouble, ranks.rank());

    ranks.all_gather_into(outputs, layout.arrange(input));

    for (int from = 0; from < ranks.size(); ++from) {
      EXPECT_TRUE(same(outputs[static_cast<std::size_t>(from)], numbers({2, 3, from, 5}, at::kComplexDouble, from)));
    }
  }
}

TEST_P(Exchange, AllGatherIntoWorksInPlaceAndWithOtherShapes) {
  const Communicator ranks = open();
  const at::Tensor flat = at::full({ranks.size() * 4}, -1, at::kLong);
  const std::vector<at::Tensor> outputs = flat.chunk(ranks.size());
  const at::Tensor& own = outputs[static_cast<std::size_t>(ranks.rank())];
  own.fill_(ranks.rank());

  ranks.all_gather_into(outputs, own.view({2, 2}));

  EXPECT_TRUE(same(flat, at::arange(ranks.size(), at::kLong).repeat_interleave(4)));
}

TEST_P(Exchange, AllToAllBringsShapesAndValues) {
  const Communicator ranks = open();
  for (const at::ScalarType dtype : all_dtypes()) {
    const auto got = ranks.all_to_all(parcels_from(ranks.rank(), ranks, dtype));

    ASSERT_EQ(got.size(), static_cast<std::size_t>(ranks.size()));
    for (int from = 0; from < ranks.size(); ++from) {
      EXPECT_TRUE(same(got[static_cast<std::size_t>(from)], parcel(from, ranks.rank(), dtype)));
    }
  }
}

TEST_P(Exchange, AllToAllIntoFillsAnyLayout) {
  const Communicator ranks = open();
  const auto piece = [](int from, int to) { return numbers({2, 2, from + to, 3}, at::kHalf, from, to); };
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> outputs;
    for (int peer = 0; peer < ranks.size(); ++peer) {
      inputs.push_back(layout.arrange(piece(ranks.rank(), peer)));
      outputs.push_back(layout.arrange(at::zeros_like(piece(peer, ranks.rank()))));
    }

    ranks.all_to_all_into(outputs, inputs);

    for (int from = 0; from < ranks.size(); ++from) {
      EXPECT_TRUE(same(outputs[static_cast<std::size_t>(from)], piece(from, ranks.rank())));
    }
  }
}

TEST_P(Exchange, AllToAllIntoMayWriteOverItsInputs) {
  const Communicator ranks = open();
  const at::Tensor flat = at::arange(ranks.size()) + 10 * ranks.rank();
  const std::vector<at::Tensor> pieces = flat.chunk(ranks.size());

  ranks.all_to_all_into(pieces, pieces);

  EXPECT_TRUE(same(flat, at::arange(ranks.size()) * 10 + ranks.rank()));
}

TEST_P(Exchange, BroadcastGivesRootsValuesInAnyLayout) {
  const Communicator ranks = open();
  for (int root = 0; root < ranks.size(); ++root) {
    for (const at::ScalarType dtype : all_dtypes()) {
      for (const Layout& layout : layouts()) {
        SCOPED_TRACE(layout.name);
        const at::Tensor tensor = layout.arrange(numbers({2, 3, 1, 4}, dtype, ranks.rank()));

        ranks.broadcast(tensor, root);

        EXPECT_TRUE(same(tensor, numbers({2, 3, 1, 4}, dtype, root)));
      }
    }
  }
}

TEST_P(Exchange, BroadcastOfEmptyAndZeroDimTensors) {
  const Communicator ranks = open();
  const at::Tensor one = at::full({}, ranks.rank(), at::kLong);

  ranks.broadcast(at::empty({0}), 0);
  ranks.broadcast(one, ranks.size() - 1);

  EXPECT_EQ(one.item<std::int64_t>(), ranks.size() - 1);
}

TEST_P(Exchange, GatherFillsRootOnly) {
  const Communicator ranks = open();
  for (int root = 0; root < ranks.size(); ++root) {
    const at::Tensor tensor = numbers({2, ranks.rank()}, at::kBFloat16, ranks.rank()).t();

    const auto got = ranks.gather(tensor, root);

    ASSERT_EQ(got.size(), ranks.rank() == root ? static_cast<std::size_t>(ranks.size()) : 0U);
    for (std::size_t from = 0; from < got.size(); ++from) {
      const auto rank = static_cast<int>(from);
      EXPECT_TRUE(same(got[from], numbers({2, rank}, at::kBFloat16, rank).t()));
    }
  }
}

TEST_P(Exchange, ScatterGivesEachRankItsPiece) {
  const Communicator ranks = open();
  for (int root = 0; root < ranks.size(); ++root) {
    for (const at::ScalarType dtype : all_dtypes()) {
      std::vector<at::Tensor> inputs;
      if (ranks.rank() == root) {
        inputs = parcels_from(root, ranks, dtype);
      }

      EXPECT_TRUE(same(ranks.scatter(inputs, root), parcel(root, ranks.rank(), dtype)));
    }
  }
}

TEST_P(Exchange, TextsOfAnyLength) {
  const Communicator ranks = open();
  const auto text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(rank) * 1000, static_cast<char>('a' + rank));
  };

  const auto all = ranks.all_gather_text(text_of(ranks.rank()));

  for (int from = 0; from < ranks.size(); ++from) {
    EXPECT_EQ(all[static_cast<std::size_t>(from)], text_of(from));
    EXPECT_EQ(ranks.broadcast_text(text_of(ranks.rank()), from), text_of(from));
  }
}

TEST_P(Exchange, BarrierReturns) { open().barrier(); }

}  // namespace
}  // namespace renga::test
