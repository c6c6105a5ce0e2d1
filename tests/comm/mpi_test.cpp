// SPDX-License-Identifier: Apache-2.0
#include "src/comm/mpi/mpi_start.hpp"
#include "tests/comm/backend_conformance.hpp"
#include "tests/support/world.hpp"

namespace renga::test {
namespace {

Opener opener(const std::string& name, detail::MpiOptions options) {
  return {name, [options](const Settings& settings, std::optional<std::string> host) {
            // MPI runs already; this start only joins it.
            return Communicator(detail::start_mpi()->world(options), settings, host);
          }};
}

}  // namespace

std::vector<Opener> openers() { return {opener("whole", {}), opener("in_chunks", {.chunk = 5})}; }

namespace {

TEST(Mpi, IsTheBackendOfTheWorld) { EXPECT_EQ(world().backend_name(), "mpi"); }

TEST(Mpi, ReceivingAnotherSizeThanWasSentBreaksTheCommunicator) {
  const Communicator ranks = environment().communicator("mpi");
  if (ranks.size() == 1) {
    GTEST_SKIP() << "there is no other rank";
  }
  if (ranks.rank() == 0) {
    ranks.send(at::zeros({2}), 1);
  } else if (ranks.rank() == 1) {
    EXPECT_EQ(message_of<CommunicationError>([&] { ranks.receive(at::zeros({3}), 0); }),
              "receive #1 with rank 0: expected 3 elements from rank 0, got 2");
    EXPECT_THROW(ranks.barrier(), CommunicationError);
  }
}

}  // namespace
}  // namespace renga::test
