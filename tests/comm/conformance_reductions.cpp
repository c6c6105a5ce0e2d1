// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

RENGA_CONFORMANCE(Reductions);

constexpr ReduceOp kOps[] = {ReduceOp::Sum, ReduceOp::Avg, ReduceOp::Min, ReduceOp::Max, ReduceOp::Prod};

bool defined(at::ScalarType dtype, ReduceOp op) {
  if (op == ReduceOp::Avg) {
    return c10::isFloatingType(dtype) || c10::isComplexType(dtype);
  }
  return !c10::isComplexType(dtype) || op == ReduceOp::Sum || op == ReduceOp::Prod;
}

std::vector<at::Tensor> pieces(const Communicator& ranks, at::IntArrayRef sizes, at::ScalarType dtype, int salt = 0) {
  std::vector<at::Tensor> all;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    all.push_back(numbers(sizes, dtype, rank, salt));
  }
  return all;
}

std::string label(at::ScalarType dtype, ReduceOp op) { return text(c10::toString(dtype), ' ', reduce_op_name(op)); }

TEST_P(Reductions, AllReduceWorksForEveryDtypeAndOperator) {
  const Communicator ranks = open();
  for (const at::ScalarType dtype : all_dtypes()) {
    for (const ReduceOp op : kOps) {
      SCOPED_TRACE(label(dtype, op));
      const auto all = pieces(ranks, {3, 7}, dtype);
      const at::Tensor tensor = all[static_cast<std::size_t>(ranks.rank())].clone();

      if (defined(dtype, op)) {
        ranks.all_reduce(tensor, op);
        EXPECT_TRUE(same(tensor, reduced(all, op)));
      } else {
        EXPECT_THROW(ranks.all_reduce(tensor, op), InvalidArgument);
      }
    }
  }
}

TEST_P(Reductions, AllReduceTakesComplexHalf) {
  const Communicator ranks = open();
  const auto all = pieces(ranks, {9}, at::kComplexFloat);
  const at::Tensor tensor = all[static_cast<std::size_t>(ranks.rank())].to(at::kComplexHalf);

  ranks.all_reduce(tensor);

  EXPECT_TRUE(same(tensor.to(at::kComplexFloat), reduced(all, ReduceOp::Sum)));
}

TEST_P(Reductions, HalfIsAddedInFloat) {
  const Communicator ranks = open();
  // In half precision 2048 + 1 is 2048; in float the ones add up before the result is rounded.
  const at::Tensor tensor = at::full({4}, ranks.rank() == 0 ? 2048.0 : 1.0, at::kHalf);

  ranks.all_reduce(tensor);

  const double sum = 2048.0 + ranks.size() - 1;
  EXPECT_TRUE(same(tensor, at::full({4}, sum, at::kFloat).to(at::kHalf)));
}

TEST_P(Reductions, AllReduceKeepsAnyLayout) {
  const Communicator ranks = open();
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBool, at::kComplexDouble}) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(text(layout.name, ' ', c10::toString(dtype)));
      const auto all = pieces(ranks, {2, 3, 4, 5}, dtype);
      const at::Tensor tensor = layout.arrange(all[static_cast<std::size_t>(ranks.rank())]);
      const auto strides = tensor.strides().vec();

      ranks.all_reduce(tensor);

      EXPECT_TRUE(same(tensor, reduced(all, ReduceOp::Sum)));
      EXPECT_EQ(tensor.strides().vec(), strides);
    }
  }
}

TEST_P(Reductions, LayoutsMayDifferBetweenRanks) {
  const Communicator ranks = open();
  const auto all = pieces(ranks, {2, 3, 4, 5}, at::kFloat);
  const auto own = static_cast<std::size_t>(ranks.rank());
  const at::Tensor tensor = layouts()[own % layouts().size()].arrange(all[own]);

  ranks.all_reduce(tensor);

  EXPECT_TRUE(same(tensor, reduced(all, ReduceOp::Sum)));
}

TEST_P(Reductions, AllReduceOfEmptyAndZeroDimTensors) {
  const Communicator ranks = open();
  const at::Tensor nothing = at::empty({0, 3});
  const at::Tensor one = at::full({}, ranks.rank() + 1.0);

  ranks.all_reduce(nothing);
  ranks.all_reduce(one);

  EXPECT_EQ(nothing.sizes(), at::IntArrayRef({0, 3}));
  EXPECT_EQ(one.item<double>(), ranks.size() * (ranks.size() + 1) / 2.0);
}

TEST_P(Reductions, AllReduceLeavesTheSameBitsOnEveryRank) {
  const Communicator ranks = open();
  at::Generator generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(ranks.rank()) + 1);
  // Thousands of tiny chunks at once would only be slow.
  const std::int64_t longest = GetParam().name == "in_chunks" ? 1003 : 100003;
  for (const std::int64_t length : {std::int64_t{1}, std::int64_t{7}, longest}) {
    for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Avg}) {
      const at::Tensor tensor = at::randn({length}, generator, at::kFloat);

      ranks.all_reduce(tensor, op);

      for (const at::Tensor& other : ranks.all_gather(tensor)) {
        EXPECT_TRUE(at::equal(other, tensor)) << length << " elements";
      }
    }
  }
}

TEST_P(Reductions, AutogradIgnoresACollectiveButSeesTheChange) {
  const Communicator ranks = open();
  const at::Tensor leaf = at::ones({3}).requires_grad_();
  const auto version = leaf._version();

  ranks.all_reduce(leaf);

  EXPECT_TRUE(leaf.is_leaf());
  EXPECT_EQ(leaf[0].item<float>(), static_cast<float>(ranks.size()));
  EXPECT_EQ(leaf._version() > version, ranks.size() > 1);
}

TEST_P(Reductions, ReduceScatterWorksForEveryDtypeAndOperator) {
  const Communicator ranks = open();
  for (const at::ScalarType dtype : all_dtypes()) {
    for (const ReduceOp op : kOps) {
      SCOPED_TRACE(label(dtype, op));
      std::vector<at::Tensor> inputs;
      for (int to = 0; to < ranks.size(); ++to) {
        inputs.push_back(numbers({to * 3, 2}, dtype, ranks.rank(), to));  // nothing for rank 0
      }

      if (defined(dtype, op)) {
        const auto expected = reduced(pieces(ranks, {ranks.rank() * 3, 2}, dtype, ranks.rank()), op);
        EXPECT_TRUE(same(ranks.reduce_scatter(inputs, op), expected));
      } else {
        EXPECT_THROW(ranks.reduce_scatter(inputs, op), InvalidArgument);
      }
    }
  }
}

TEST_P(Reductions, ReduceScatterTakesAnyLayoutAndKeepsItsInputs) {
  const Communicator ranks = open();
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    std::vector<at::Tensor> inputs;
    for (int to = 0; to < ranks.size(); ++to) {
      inputs.push_back(layout.arrange(numbers({2, 3, to + 1, 5}, at::kComplexFloat, ranks.rank(), to)));
    }
    const at::Tensor before = inputs.back().clone();

    const at::Tensor output = ranks.reduce_scatter(inputs);

    const auto all = pieces(ranks, {2, 3, ranks.rank() + 1, 5}, at::kComplexFloat, ranks.rank());
    EXPECT_TRUE(same(output, reduced(all, ReduceOp::Sum)));
    EXPECT_TRUE(same(inputs.back(), before));
  }
}

}  // namespace
}  // namespace renga::test
