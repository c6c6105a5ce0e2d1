// SPDX-License-Identifier: Apache-2.0
#include "src/comm/mpi/mpi_start.hpp"
#include "src/comm/shm/shm_backend.hpp"
#include "tests/comm/backend_conformance.hpp"
#include "tests/support/world.hpp"

namespace renga::test {
namespace {

Communicator open_shared(const Settings& settings, std::optional<std::string> host) {
  const auto inner = detail::start_mpi()->world({});
  detail::Engines engines;
  return Communicator(detail::share_memory(inner, Communicator(inner, settings), engines), settings, std::move(host));
}

}  // namespace

std::vector<Opener> openers() { return {{"shm", open_shared}}; }

namespace {

Communicator ranks() { return open_shared(Settings(), std::nullopt); }

// Of other sizes than fit one slot, one slice, one cache line.
const std::vector<std::int64_t> kSizes{1, 5, 63, 1000, 2048, 2049, 70'001, 65'536, 300'007, 1'000'000};

at::Tensor values(std::int64_t elements, int rank, at::ScalarType dtype) {
  return (at::arange(elements, at::kLong).remainder(97) + 3 * rank).to(dtype);
}

at::Tensor sum_of_values(std::int64_t elements, int size, at::ScalarType dtype) {
  at::Tensor sum = at::zeros({elements}, at::kLong);
  for (int r = 0; r < size; ++r) {
    sum += values(elements, r, at::kLong);
  }
  return sum.to(dtype);
}

TEST(Shm, ReducesWhereTheTensorLiesAndElsewhere) {
  const Communicator group = ranks();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kLong}) {
    for (const std::int64_t elements : kSizes) {
      const at::Tensor expected = sum_of_values(elements, group.size(), dtype);
      const at::Tensor shared = group.allocate(elements, dtype);
      shared.copy_(values(elements, group.rank(), dtype));
      const at::Tensor ordinary = values(elements, group.rank(), dtype);
      // One rank's lies elsewhere: the others must not take theirs for enough.
      const at::Tensor mixed = group.rank() == 0 ? ordinary.clone() : group.allocate(elements, dtype);
      mixed.copy_(ordinary);

      group.all_reduce(shared);
      group.all_reduce(ordinary);
      group.all_reduce(mixed);

      EXPECT_TRUE(at::equal(shared, expected)) << elements;
      EXPECT_TRUE(at::equal(ordinary, expected)) << elements;
      EXPECT_TRUE(at::equal(mixed, expected)) << elements;
    }
  }
}

TEST(Shm, AllRanksGetTheSameBits) {
  const Communicator group = ranks();
  at::manual_seed(1 + group.rank());
  for (const std::int64_t elements : kSizes) {
    for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
      const at::Tensor noise = at::randn({elements}).to(dtype);
      const at::Tensor shared = group.allocate(elements, dtype);
      shared.copy_(noise);
      group.all_reduce(noise);
      group.all_reduce(shared);
      for (const at::Tensor& other : group.all_gather(noise)) {
        EXPECT_TRUE(at::equal(other, noise)) << elements;
      }
      EXPECT_TRUE(at::equal(shared, noise)) << elements;
    }
  }
}

TEST(Shm, AMeanThatFitsDoesNotOverflowItsSum) {
  const Communicator group = ranks();
  const at::Tensor large = at::full({100}, 60000.0, at::kHalf);
  group.all_reduce(large, ReduceOp::Avg);
  EXPECT_TRUE(at::equal(large, at::full({100}, 60000.0, at::kHalf)));
}

TEST(Shm, LargePiecesOfUnevenSizesMove) {
  const Communicator group = ranks();
  const int size = group.size();
  const auto elements = [](int from, int to) { return 70'000 * from + 1000 * to + (from + to) % 2; };
  std::vector<at::Tensor> sent;
  for (int to = 0; to < size; ++to) {
    sent.push_back(values(elements(group.rank(), to), group.rank() + to, at::kFloat));
  }
  const std::vector<at::Tensor> arrived = group.all_to_all(sent);
  for (int from = 0; from < size; ++from) {
    const auto index = static_cast<std::size_t>(from);
    EXPECT_TRUE(at::equal(arrived[index], values(elements(from, group.rank()), from + group.rank(), at::kFloat)));
  }
  const std::vector<at::Tensor> gathered =
      group.all_gather(values(elements(group.rank(), 0), group.rank(), at::kFloat));
  for (int from = 0; from < size; ++from) {
    EXPECT_TRUE(at::equal(gathered[static_cast<std::size_t>(from)], values(elements(from, 0), from, at::kFloat)));
  }
  const at::Tensor told = values(200'001, group.rank(), at::kDouble);
  group.broadcast(told, size - 1);
  EXPECT_TRUE(at::equal(told, values(200'001, size - 1, at::kDouble)));
}

TEST(Shm, OperationsUnderWayDoNotKeepOthersFromEnding) {
  const Communicator group = ranks();
  if (group.size() == 1) {
    GTEST_SKIP() << "there is no other rank";
  }
  const int next = (group.rank() + 1) % group.size();
  const int previous = (group.rank() + group.size() - 1) % group.size();
  for (int i = 0; i < 20; ++i) {
    const at::Tensor sum = values(100'000, group.rank(), at::kFloat);
    const at::Tensor out = values(100'000, group.rank(), at::kFloat);
    const at::Tensor in = at::empty({100'000});
    Request reduced = group.all_reduce_async(sum);
    Request sent = group.send_async(out, next);
    if (group.rank() % 2 == 0) {
      group.receive(in, previous);
      reduced.wait();
    } else {
      reduced.wait();
      group.receive(in, previous);
    }
    sent.wait();
    EXPECT_TRUE(at::equal(in, values(100'000, previous, at::kFloat)));
    EXPECT_TRUE(at::equal(sum, sum_of_values(100'000, group.size(), at::kFloat)));
  }
}

// The group by name has all that the world has, and a wait in one lets the other go on.
TEST(Shm, ByNameBesideTheWorld) {
  const Communicator shared = environment().communicator("shm");
  EXPECT_EQ(shared.size(), world().size());
  EXPECT_EQ(shared.backend_name(), world().size() == 1 ? world().backend_name() : "shm");
  const at::Tensor a = values(100'000, world().rank(), at::kFloat);
  const at::Tensor b = a.clone();
  Request first = shared.all_reduce_async(a);
  Request second = world().all_reduce_async(b);
  if (world().rank() % 2 == 0) {
    first.wait();
    second.wait();
  } else {
    second.wait();
    first.wait();
  }
  EXPECT_TRUE(at::equal(a, sum_of_values(100'000, world().size(), at::kFloat)));
  EXPECT_TRUE(at::equal(b, a));
}

TEST(Shm, GroupsComeAndGo) {
  const Communicator group = ranks();
  for (int i = 0; i < 40; ++i) {
    const Communicator part = group.split(group.rank() % 2, group.rank());
    const at::Tensor count = at::ones({3000});
    part.all_reduce(count);
    EXPECT_TRUE(at::equal(count, at::full({3000}, part.size())));
    if (i % 3 == 0) {
      const at::Tensor all = at::ones({10'000});
      group.all_reduce(all);
      EXPECT_TRUE(at::equal(all, at::full({10'000}, group.size())));
    }
  }
}

TEST(Shm, AnotherOperationOrSizeIsAnErrorOnEveryRank) {
  if (world().size() == 1) {
    GTEST_SKIP() << "there is no other rank";
  }
  const Communicator sizes = ranks();
  const at::Tensor uneven = at::ones({sizes.rank() == 0 ? 10 : 20});
  EXPECT_NE(message_of<CommunicationError>([&] { sizes.all_reduce(uneven); }).find("bytes from rank"),
            std::string::npos);
  EXPECT_THROW(sizes.barrier(), CommunicationError);
  const Communicator kinds = ranks();
  const std::string message = message_of<CommunicationError>([&] {
    if (kinds.rank() == 0) {
      kinds.barrier();
    } else {
      kinds.all_reduce(at::ones({10}));
    }
  });
  EXPECT_NE(message.find("in the same operation, got it in"), std::string::npos) << message;
}

}  // namespace
}  // namespace renga::test
