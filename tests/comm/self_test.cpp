// SPDX-License-Identifier: Apache-2.0
#include "src/comm/self_backend.hpp"
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {

std::vector<Opener> openers() {
  return {{"self", [](const Settings& settings, std::optional<std::string> host) {
             return Communicator(std::make_shared<detail::SelfBackend>(), settings, host);
           }}};
}

namespace {

TEST(Self, IsAWorldOfOne) {
  const Communicator self = Communicator::self();

  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.backend_name(), "self");
}

// A group of one is served without the backend, which must be right nevertheless.
TEST(SelfBackend, MovesWhatItIsGiven) {
  detail::SelfBackend self;
  const at::Tensor input = at::arange(3);
  const auto zeros = [] { return at::zeros({3}, at::kLong); };
  const at::Tensor outputs[] = {zeros(), zeros(), zeros(), zeros(), zeros()};

  self.all_gather({outputs[0]}, input);
  self.all_to_all({outputs[1]}, {input});
  self.gather({outputs[2]}, input, 0);
  self.scatter(outputs[3], {input}, 0);
  self.reduce_scatter(outputs[4], {input}, ReduceOp::Sum);

  for (const at::Tensor& output : outputs) {
    EXPECT_TRUE(same(output, input));
  }
  EXPECT_TRUE(self.all_reduce(input, ReduceOp::Sum)->test());
  EXPECT_TRUE(self.broadcast(input, 0)->test());
  EXPECT_TRUE(self.barrier()->test());
  EXPECT_THROW(self.send(input, 0, 0), InvalidArgument);
  EXPECT_THROW(self.receive(input, 0, 0), InvalidArgument);
}

}  // namespace
}  // namespace renga::test
