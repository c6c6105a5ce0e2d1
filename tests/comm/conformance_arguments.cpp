// SPDX-License-Identifier: Apache-2.0
// Wrong arguments are found before anything is communicated: all ranks throw and go on.
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

RENGA_CONFORMANCE(Arguments);

template <typename Action>
std::string invalid(const Action& action) {
  return message_of<InvalidArgument>(action);
}

TEST_P(Arguments, AnUndefinedTensorIsNamed) {
  const Communicator ranks = open();

  EXPECT_EQ(invalid([&] { ranks.all_reduce(at::Tensor()); }),
            "all_reduce: tensor: expected a tensor, got an undefined one");
  EXPECT_EQ(invalid([&] { ranks.broadcast(at::Tensor(), 0); }),
            "broadcast: tensor: expected a tensor, got an undefined one");
}

TEST_P(Arguments, ATensorOfAnotherDeviceIsNamed) {
  const Communicator ranks = open();

  EXPECT_EQ(invalid([&] { ranks.all_reduce(at::empty({2}, at::Device("meta"))); }),
            "all_reduce: tensor: expected a CPU tensor, got meta");
}

TEST_P(Arguments, ASparseTensorIsRejected) {
  const Communicator ranks = open();

  EXPECT_THROW(ranks.all_gather(at::eye(2).to_sparse()), InvalidArgument);
}

TEST_P(Arguments, AnOutputMustNotOverlapItself) {
  const Communicator ranks = open();
  const at::Tensor expanded = at::zeros({1, 3}).expand({2, 3});
  const at::Tensor windows = at::zeros({4}).as_strided({3, 2}, {1, 1});

  EXPECT_EQ(invalid([&] { ranks.all_reduce(expanded); }),
            "all_reduce: tensor: expected a tensor whose elements have memory of their own, "
            "got sizes [2, 3] with strides [0, 1]");
  EXPECT_THROW(ranks.all_reduce(windows), InvalidArgument);
  EXPECT_EQ(ranks.all_gather(expanded).size(), static_cast<std::size_t>(ranks.size()));
}

TEST_P(Arguments, OneTensorARankIsExpected) {
  const Communicator ranks = open();
  const std::vector<at::Tensor> many(static_cast<std::size_t>(ranks.size()) + 1, at::zeros({1}));

  EXPECT_EQ(invalid([&] { ranks.all_to_all(many); }),
            text("all_to_all: inputs: expected ", ranks.size(), " tensors, one a rank, got ", many.size()));
  EXPECT_THROW(ranks.all_gather_into(many, at::zeros({1})), InvalidArgument);
  EXPECT_THROW(ranks.reduce_scatter({}), InvalidArgument);
}

TEST_P(Arguments, DtypesMustBeTheSame) {
  const Communicator ranks = open();
  std::vector<at::Tensor> outputs(static_cast<std::size_t>(ranks.size()));
  for (at::Tensor& output : outputs) {
    output = at::zeros({1});
  }

  EXPECT_EQ(invalid([&] { ranks.all_gather_into(outputs, at::zeros({1}, at::kInt)); }),
            "all_gather_into: outputs[rank]: expected int32, got float32");
}

TEST_P(Arguments, OwnSizesMustBeTheSame) {
  const Communicator ranks = open();
  std::vector<at::Tensor> outputs(static_cast<std::size_t>(ranks.size()));
  for (at::Tensor& output : outputs) {
    output = at::zeros({1, 3});
  }

  EXPECT_EQ(invalid([&] { ranks.all_gather_into(outputs, at::zeros({2})); }),
            "all_gather_into: outputs[rank]: expected 2 elements as in this rank's input, got 3 in [1, 3]");
}

TEST_P(Arguments, RootsAndPeersAreRanks) {
  const Communicator ranks = open();
  const at::Tensor tensor = at::zeros({1});

  EXPECT_EQ(invalid([&] { ranks.broadcast(tensor, ranks.size()); }),
            text("broadcast: root: expected a rank below ", ranks.size(), ", got ", ranks.size()));
  EXPECT_THROW(ranks.gather(tensor, -1), InvalidArgument);
  EXPECT_THROW(ranks.scatter({}, ranks.size()), InvalidArgument);
  EXPECT_EQ(
      invalid([&] { ranks.send(tensor, ranks.rank()); }),
      text("send: peer: expected a rank below ", ranks.size(), " other than ", ranks.rank(), ", got ", ranks.rank()));
  EXPECT_THROW(ranks.receive(tensor, ranks.size()), InvalidArgument);
}

TEST_P(Arguments, OperatorsThatHaveNoMeaningAreNamed) {
  const Communicator ranks = open();

  EXPECT_EQ(invalid([&] { ranks.all_reduce(at::zeros({1}, at::kInt), ReduceOp::Avg); }),
            "all_reduce: op: expected sum, min, max or prod for int32, got avg");
  EXPECT_EQ(invalid([&] { ranks.all_reduce(at::zeros({1}, at::kComplexFloat), ReduceOp::Max); }),
            "all_reduce: op: expected sum, avg or prod for complex64, got max");
}

TEST_P(Arguments, ACommunicatorNeedsABackend) { EXPECT_THROW(Communicator(nullptr, Settings()), InvalidArgument); }

}  // namespace
}  // namespace renga::test
