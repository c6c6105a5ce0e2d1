// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

RENGA_CONFORMANCE(Requests);

TEST_P(Requests, AnEmptyOneIsDone) {
  Request request;

  request.wait();

  EXPECT_TRUE(request.done());
}

TEST_P(Requests, SeveralInFlightEndInAnyOrder) {
  const Communicator ranks = open();
  const int size = ranks.size();
  std::vector<at::Tensor> sums;
  std::vector<Request> requests;
  for (int i = 0; i < 8; ++i) {
    sums.push_back(at::full({100 + i}, ranks.rank() + i, at::kDouble));
    requests.push_back(ranks.all_reduce_async(sums.back()));
  }
  const at::Tensor sent = at::full({3}, ranks.rank(), at::kFloat).to(at::kHalf);
  std::vector<at::Tensor> gathered(static_cast<std::size_t>(size));
  for (at::Tensor& tensor : gathered) {
    tensor = at::zeros({3}, at::kHalf);
  }
  requests.push_back(ranks.all_gather_into_async(gathered, sent));
  const at::Tensor news = at::full({4}, ranks.rank(), at::kInt);
  requests.push_back(ranks.broadcast_async(news, size - 1));

  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    request->wait();
    request->wait();
    EXPECT_TRUE(request->done());
  }

  for (int i = 0; i < 8; ++i) {
    const double sum = size * (size - 1) / 2.0 + i * size;
    EXPECT_TRUE(same(sums[static_cast<std::size_t>(i)], at::full({100 + i}, sum, at::kDouble)));
  }
  for (int from = 0; from < size; ++from) {
    EXPECT_TRUE(same(gathered[static_cast<std::size_t>(from)], at::full({3}, from, at::kHalf)));
  }
  EXPECT_TRUE(same(news, at::full({4}, size - 1, at::kInt)));
}

TEST_P(Requests, DonePollsUntilTheResultIsInPlace) {
  const Communicator ranks = open();
  const at::Tensor tensor = at::ones({5, 4}, at::kHalf).t();

  Request request = ranks.all_reduce_async(tensor);
  while (!request.done()) {
    std::this_thread::yield();
  }

  EXPECT_TRUE(same(tensor, at::full({4, 5}, ranks.size(), at::kHalf)));
}

TEST_P(Requests, AllToAllIntoAsync) {
  const Communicator ranks = open();
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
  for (int peer = 0; peer < ranks.size(); ++peer) {
    inputs.push_back(at::full({peer + 1}, ranks.rank(), at::kLong));
    outputs.push_back(at::zeros({ranks.rank() + 1}, at::kLong));
  }

  Request request = ranks.all_to_all_into_async(outputs, inputs);
  inputs.clear();
  request.wait();

  for (int from = 0; from < ranks.size(); ++from) {
    EXPECT_TRUE(same(outputs[static_cast<std::size_t>(from)], at::full({ranks.rank() + 1}, from, at::kLong)));
  }
}

TEST_P(Requests, DroppedOnesKeepTheirMemoryAndDisturbNothing) {
  const Communicator ranks = open();
  // Whole, too long to be sent before the other end asks for it.
  const std::int64_t length = GetParam().name == "in_chunks" ? 64 : 1 << 14;
  for (int i = 0; i < 20; ++i) {
    ranks.all_reduce_async(at::ones({length}));
    ranks.broadcast_async(at::ones({length, 2}, at::kHalf).t(), 0).done();
  }
  const at::Tensor tensor = at::ones({10});

  ranks.all_reduce(tensor);

  EXPECT_TRUE(same(tensor, at::full({10}, ranks.size(), at::kFloat)));
}

TEST_P(Requests, MessagesGoRoundARing) {
  const Communicator ranks = open();
  if (ranks.size() == 1) {
    GTEST_SKIP() << "there is no other rank";
  }
  const int next = (ranks.rank() + 1) % ranks.size();
  const int previous = (ranks.rank() + ranks.size() - 1) % ranks.size();
  for (const at::ScalarType dtype : all_dtypes()) {
    const at::Tensor arrived = at::zeros({4, 3}, dtype).t();

    Request coming = ranks.receive_async(arrived, previous, 3);
    ranks.send(numbers({3, 4}, dtype, ranks.rank()), next, 3);
    coming.wait();

    EXPECT_TRUE(same(arrived, numbers({3, 4}, dtype, previous)));
  }
}

TEST_P(Requests, TagsKeepMessagesApartFromEachOtherAndFromCollectives) {
  const Communicator ranks = open();
  const int last = ranks.size() - 1;
  if (last == 0) {
    GTEST_SKIP() << "there is no other rank";
  }
  const at::Tensor first = at::zeros({2});
  const at::Tensor second = at::zeros({2});
  std::vector<Request> sent;
  if (ranks.rank() == 0) {
    sent.push_back(ranks.send_async(at::full({2}, 1.0), last, 1));
    sent.push_back(ranks.send_async(at::full({2}, 2.0), last, 2));
  }

  ranks.barrier();
  if (ranks.rank() == last) {
    ranks.receive(second, 0, 2);
    ranks.receive(first, 0, 1);
    EXPECT_TRUE(same(first, at::full({2}, 1.0)));
    EXPECT_TRUE(same(second, at::full({2}, 2.0)));
  }
  for (Request& request : sent) {
    request.wait();
  }
  ranks.barrier();
}

}  // namespace
}  // namespace renga::test
