// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

TEST(Environment, RanksStartWithOneSeed) {
  const at::Tensor drawn = at::rand({4});

  for (const at::Tensor& other : world().all_gather(drawn)) {
    EXPECT_TRUE(at::equal(other, drawn));
  }
}

TEST(Environment, SeedsEveryRankAlike) {
  environment().seed(5);
  const at::Tensor first = at::rand({4});
  environment().seed(5);

  EXPECT_TRUE(at::equal(at::rand({4}), first));
}

TEST(Environment, SeedsThatDifferAreAMismatch) {
  if (world().size() == 1) {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  EXPECT_THROW(environment().seed(static_cast<std::uint64_t>(world().rank())), Mismatch);
}

TEST(Environment, ReadsItsSettings) {
  EXPECT_TRUE(environment().settings().check);
  EXPECT_EQ(environment().settings().timeout.count(), 60.0);
}

TEST(Environment, SetsComputeThreads) {
  environment().set_threads(2);
  EXPECT_EQ(environment().threads(), 2);
  environment().set_threads(1);
  EXPECT_EQ(environment().threads(), 1);
  EXPECT_THROW(environment().set_threads(0), InvalidArgument);
}

TEST(Environment, OpensCommunicatorsByName) {
  for (const char* name : {"auto", "mpi", "hierarchical", "naive", "single_node"}) {
    const Communicator ranks = environment().communicator(name);
    const at::Tensor tensor = at::ones({2});
    ranks.all_reduce(tensor);
    EXPECT_EQ(tensor[1].item<int>(), world().size()) << name;
  }
  EXPECT_EQ(environment().communicator("self").size(), 1);
}

TEST(Environment, RejectsNamesItDoesNotHave) {
  EXPECT_THROW(environment().communicator("nccl"), NotAvailable);
  EXPECT_THROW(environment().communicator("gloo"), NotAvailable);
  EXPECT_THROW(environment().communicator("pigeon"), InvalidArgument);
}

TEST(Environment, ASignalToOneRankIsARequestToAll) {
  EXPECT_FALSE(environment().stop_requested());
  if (world().rank() == world().size() - 1) {
    std::raise(SIGTERM);
  }
  EXPECT_TRUE(environment().stop_requested());
  EXPECT_TRUE(environment().stop_requested()) << "the answer stays";
}

}  // namespace
}  // namespace renga::test
