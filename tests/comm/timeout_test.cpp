// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "src/comm/mpi/mpi_start.hpp"
#include "tests/support/world.hpp"

namespace renga::test {
namespace {

Communicator impatient() {
  Settings settings;
  settings.timeout = std::chrono::duration<double>(0.2);
  return Communicator(detail::start_mpi()->world({}), settings);
}

template <typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const CommunicationError& error) {
    return error.what();
  }
  return "";
}

TEST(Timeout, NamesTheOperationAndBreaksTheCommunicatorForGood) {
  const Communicator ranks = impatient();
  if (ranks.size() == 1) {
    GTEST_SKIP() << "nobody to wait for";
  }
  const std::string expected = "all_reduce #2: expected all " + std::to_string(ranks.size()) +
                               " ranks within 0.2 s, got no completion; a rank is late, has ended, or is in another"
                               " operation (RENGA_TIMEOUT sets the limit)";
  const at::Tensor tensor = at::ones({1000});

  if (ranks.rank() == 0) {
    EXPECT_THROW(ranks.all_reduce(tensor), renga::Timeout) << expected;
    EXPECT_EQ(message_of([&] { ranks.barrier(); }),
              "barrier: communicator: expected a working one, got one that broke in " + expected);
    EXPECT_THROW(ranks.split(0, 0), CommunicationError);
    EXPECT_THROW(ranks.send(tensor, 1), CommunicationError);
  }
  world().barrier();
}

TEST(Timeout, OfARequestMayBeAskedForTwice) {
  const Communicator ranks = impatient();
  if (ranks.size() == 1) {
    GTEST_SKIP() << "nobody to wait for";
  }
  if (ranks.rank() == 0) {
    const at::Tensor tensor = at::ones({10});
    Request request = ranks.receive_async(tensor, 1);
    EXPECT_THROW(request.wait(), renga::Timeout);
    EXPECT_THROW(request.wait(), CommunicationError);
    EXPECT_THROW(request.done(), CommunicationError);
  }
  world().barrier();
}

}  // namespace
}  // namespace renga::test
