// SPDX-License-Identifier: Apache-2.0
// With the check on, ranks that disagree all throw the same, and the communicator still works.
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

class Check : public Conformance {
 protected:
  void SetUp() override {
    ranks_ = open_checked();
    if (ranks_->size() == 1) {
      GTEST_SKIP() << "one rank agrees with itself";
    }
    last_ = ranks_->rank() == ranks_->size() - 1;
  }

  const Communicator& ranks() const { return *ranks_; }

  template <typename Action>
  std::string mismatch(const Action& action) const {
    const std::string message = message_of<Mismatch>(action);
    // The same everywhere, and all ranks can go on.
    for (const std::string& other : ranks().all_gather_text(message)) {
      EXPECT_EQ(other, message);
    }
    return message;
  }

  // As messages name the last rank, the one that differs in these tests.
  std::string other() const { return "rank " + std::to_string(ranks().size() - 1); }

  std::optional<Communicator> ranks_;
  bool last_ = false;
};

INSTANTIATE_TEST_SUITE_P(Backend, Check, ::testing::ValuesIn(openers()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(Check, NamesAnotherOperation) {
  const at::Tensor tensor = at::zeros({3, 4});

  const std::string message = mismatch([&] {
    if (last_) {
      ranks().broadcast(tensor, 1);
    } else {
      ranks().all_reduce(tensor);
    }
  });

  EXPECT_EQ(message, "all_reduce #2: rank 0 calls all_reduce float32 [3, 4] sum, " + other() +
                         " calls broadcast float32 [3, 4] root 1");
}

TEST_P(Check, NamesAnotherShape) {
  const std::string message = mismatch([&] { ranks().all_reduce(last_ ? at::zeros({4}) : at::zeros({2, 2})); });

  EXPECT_EQ(message, "all_reduce #2: rank 0 calls all_reduce float32 [2, 2] sum, " + other() +
                         " calls all_reduce float32 [4] sum");
}

TEST_P(Check, NamesAnotherDtype) {
  const std::string message = mismatch([&] { ranks().broadcast(at::zeros({2}, last_ ? at::kLong : at::kDouble), 0); });

  EXPECT_EQ(message, "broadcast #2: rank 0 calls broadcast float64 [2] root 0, " + other() +
                         " calls broadcast int64 [2] root 0");
}

TEST_P(Check, NamesAnotherRoot) {
  const std::string message = mismatch([&] { ranks().gather(at::zeros({2}), last_ ? 1 : 0); });

  EXPECT_EQ(message, "gather #2: rank 0 calls gather float32 root 0, " + other() + " calls gather float32 root 1");
}

TEST_P(Check, NamesAnotherReduceOp) {
  const std::string message =
      mismatch([&] { ranks().all_reduce(at::zeros({2}), last_ ? ReduceOp::Max : ReduceOp::Sum); });

  EXPECT_EQ(message,
            "all_reduce #2: rank 0 calls all_reduce float32 [2] sum, " + other() + " calls all_reduce float32 [2] max");
}

TEST_P(Check, ARankThatSkipsOneIsFound) {
  const std::string message = mismatch([&] {
    if (!last_) {
      ranks().barrier();
    }
    ranks().all_reduce(at::zeros({2}));
  });

  EXPECT_EQ(message, "barrier #2: rank 0 calls barrier, " + other() + " calls all_reduce float32 [2] sum");
}

TEST_P(Check, CoversAsynchronousCalls) {
  const std::string message = mismatch([&] {
    Request request = ranks().all_reduce_async(at::zeros({last_ ? 1 : 2}));
    request.wait();
  });

  EXPECT_EQ(message.substr(0, 13), "all_reduce #2");
}

TEST_P(Check, CoversSizesOfAllToAllInto) {
  const auto size = static_cast<std::size_t>(ranks().size());
  std::vector<at::Tensor> inputs(size, at::zeros({2}));
  std::vector<at::Tensor> outputs;
  for (std::size_t from = 0; from < size; ++from) {
    outputs.push_back(at::zeros({last_ && from == 0 ? 3 : 2}));
  }

  const std::string message = mismatch([&] { ranks().all_to_all_into(outputs, inputs); });

  EXPECT_EQ(message, "all_to_all_into #2: rank 0 sends 2 elements to " + other() + ", " + other() + " expects 3");
}

TEST_P(Check, CoversLongListsOfShapes) {
  const auto size = static_cast<std::size_t>(ranks().size());
  std::vector<at::Tensor> inputs(size, at::zeros(std::vector<std::int64_t>(60, 1)));
  inputs.back() = at::zeros({last_ ? 1 : 2});

  const std::string message = mismatch([&] { ranks().reduce_scatter(inputs); });

  EXPECT_EQ(message.substr(0, 17), "reduce_scatter #2");
}

TEST_P(Check, DtypesOfGatheredTensorsAreComparedEvenWithoutIt) {
  const Communicator unchecked = open();
  const at::Tensor tensor = at::zeros({2}, last_ ? at::kLong : at::kFloat);
  const std::vector<at::Tensor> tensors(static_cast<std::size_t>(ranks().size()), tensor);

  EXPECT_EQ(mismatch([&] { unchecked.all_gather(tensor); }),
            "all_gather #2: rank 0 has float32, " + other() + " has int64");
  EXPECT_EQ(mismatch([&] { unchecked.all_to_all(tensors); }),
            "all_to_all #3: rank 0 has float32, " + other() + " has int64");
  EXPECT_EQ(mismatch([&] { unchecked.gather(tensor, 0); }), "gather #4: rank 0 has float32, " + other() + " has int64");
}

TEST_P(Check, RequireSameNamesBothValues) {
  EXPECT_EQ(mismatch([&] { ranks().require_same("seed", last_ ? "8" : "7"); }),
            "seed: rank 0 has \"7\", " + other() + " has \"8\"");
  ranks().require_same("seed", "7");
}

TEST_P(Check, RanksMustAgreeOnTheCheckItself) {
  Settings settings;
  settings.check = last_;

  EXPECT_EQ(mismatch([&] { GetParam().open(settings, std::nullopt); }),
            "communicator: RENGA_CHECK: rank 0 has RENGA_CHECK=0, " + other() + " has RENGA_CHECK=1");
}

}  // namespace
}  // namespace renga::test
