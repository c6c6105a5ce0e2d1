// SPDX-License-Identifier: Apache-2.0
#include "shm_backend.hpp"

#include <cstdlib>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "../backoff.hpp"
#include "../buffers.hpp"
#include "../self_backend.hpp"
#include "reduce.hpp"
#include "shm_steps.hpp"

namespace renga::detail {
namespace {

// How often a wait looks after what goes on in the other backend, too; that costs more than a look at a flag.
constexpr int kPollsApart = 64;
constexpr int kPatience = 1024;  // polls: from here on each costs little beside the pause after it

class ShmWork : public Work {
 public:
  ShmWork(std::shared_ptr<ShmGroup> group, std::shared_ptr<ShmOperation> operation, std::shared_ptr<SharedHost> host,
          std::shared_ptr<Backend> inner)
      : group_(std::move(group)), operation_(std::move(operation)), host_(std::move(host)), inner_(std::move(inner)) {}

  bool test() override {
    if (!operation_->done && !operation_->error) {
      host_->progress();
      if (++polls_ > kPatience || polls_ % kPollsApart == 0) {
        inner_->progress();
      }
    }
    if (operation_->error) {
      std::rethrow_exception(operation_->error);
    }
    return operation_->done;
  }

 private:
  std::shared_ptr<ShmGroup> group_;  // lives until its last operation was waited for
  std::shared_ptr<ShmOperation> operation_;
  std::shared_ptr<SharedHost> host_;
  std::shared_ptr<Backend> inner_;
  int polls_ = 0;
};

// Work of the other backend, during which that of shared memory goes on.
class PassedOn : public Work {
 public:
  PassedOn(std::unique_ptr<Work> work, std::shared_ptr<SharedHost> host)
      : work_(std::move(work)), host_(std::move(host)) {}

  bool test() override {
    const bool done = work_->test();
    if (!done) {
      host_->progress();
    }
    return done;
  }

 private:
  std::unique_ptr<Work> work_;
  std::shared_ptr<SharedHost> host_;
};

std::vector<BlockPlace> exchange(Backend& inner, SharedHost& host, const BlockPlace& own,
                                 std::chrono::duration<double> timeout) {
  const auto size = static_cast<std::size_t>(inner.size());
  const auto row = [] { return empty({3}, at::kLong); };
  std::vector<at::Tensor> rows;
  for (std::size_t r = 0; r < size; ++r) {
    rows.push_back(row());
  }
  const at::Tensor sent = row();
  auto* const values = sent.data_ptr<std::int64_t>();
  values[0] = own.member;
  values[1] = own.offset;
  values[2] = own.group;
  const std::unique_ptr<Work> work = inner.all_gather(rows, sent);
  Backoff backoff(FirstWait::Yield);
  while (!work->test()) {
    host.progress();
    backoff.pause();
    if (backoff.waited() > timeout) {
      throw Timeout(text("shm: expected ", size, " ranks to form a group within ", timeout.count(),
                         " s (RENGA_TIMEOUT sets the limit)"));
    }
  }
  std::vector<BlockPlace> places;
  for (const at::Tensor& arrived : rows) {
    const auto* const place = arrived.data_ptr<std::int64_t>();
    places.push_back({place[0], place[1], place[2]});
  }
  return places;
}

}  // namespace

ShmBackend::ShmBackend(std::shared_ptr<Backend> inner, std::shared_ptr<SharedHost> host,
                       std::chrono::duration<double> timeout)
    : inner_(std::move(inner)), host_(std::move(host)), timeout_(timeout) {
  const BlockPlace own = host_->take_block();
  group_ = std::make_shared<ShmGroup>(host_, exchange(*inner_, *host_, own, timeout_), inner_->rank());
}

std::shared_ptr<Backend> ShmBackend::split(int color, int key) {
  std::shared_ptr<Backend> part = inner_->split(color, key);
  if (part->size() == 1) {
    return std::make_shared<SelfBackend>(std::move(part));
  }
  return std::make_shared<ShmBackend>(std::move(part), host_, timeout_);
}

at::Tensor ShmBackend::allocate(std::int64_t elements, at::ScalarType dtype) {
  return host_->allocate(elements, dtype);
}

bool ShmBackend::reduces(at::ScalarType dtype, ReduceOp op) const { return can_reduce(dtype, op); }

std::unique_ptr<Work> ShmBackend::start(std::unique_ptr<ShmSteps> steps) {
  return std::make_unique<ShmWork>(group_, group_->start(std::move(steps)), host_, inner_);
}

std::unique_ptr<Work> ShmBackend::passed_on(std::unique_ptr<Work> work) {
  return std::make_unique<PassedOn>(std::move(work), host_);
}

std::unique_ptr<Work> ShmBackend::all_reduce(at::Tensor buffer, ReduceOp op) {
  return start(all_reduce_steps(std::move(buffer), op));
}

std::unique_ptr<Work> ShmBackend::reduce_scatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op) {
  return start(reduce_scatter_steps(std::move(output), std::move(inputs), op));
}

std::unique_ptr<Work> ShmBackend::all_gather(std::vector<at::Tensor> outputs, at::Tensor input) {
  return start(all_gather_steps(std::move(outputs), std::move(input)));
}

std::unique_ptr<Work> ShmBackend::all_to_all(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) {
  return start(all_to_all_steps(std::move(outputs), std::move(inputs)));
}

std::unique_ptr<Work> ShmBackend::broadcast(at::Tensor buffer, int root) {
  return start(broadcast_steps(std::move(buffer), root));
}

std::unique_ptr<Work> ShmBackend::gather(std::vector<at::Tensor> outputs, at::Tensor input, int root) {
  return passed_on(inner_->gather(std::move(outputs), std::move(input), root));
}

std::unique_ptr<Work> ShmBackend::scatter(at::Tensor output, std::vector<at::Tensor> inputs, int root) {
  return passed_on(inner_->scatter(std::move(output), std::move(inputs), root));
}

std::unique_ptr<Work> ShmBackend::send(at::Tensor buffer, int peer, int tag) {
  return passed_on(inner_->send(std::move(buffer), peer, tag));
}

std::unique_ptr<Work> ShmBackend::receive(at::Tensor buffer, int peer, int tag) {
  return passed_on(inner_->receive(std::move(buffer), peer, tag));
}

std::unique_ptr<Work> ShmBackend::barrier() { return start(barrier_steps()); }

void ShmBackend::abort(int exit_code) {
  inner_->abort(exit_code);
  std::_Exit(exit_code);  // GCC forgets that a virtual function does not return
}

std::shared_ptr<Backend> share_memory(std::shared_ptr<Backend> inner, const Communicator& ranks, Engines& engines) {
  if (inner->size() == 1) {
    return inner;
  }
  const std::shared_ptr<SharedHost> host = SharedHost::open(ranks);
  engines.all.push_back([weak = std::weak_ptr<SharedHost>(host)] {
    if (const auto alive = weak.lock()) {
      alive->progress();
    }
  });
  return std::make_shared<ShmBackend>(std::move(inner), host, ranks.settings().timeout);
}

}  // namespace renga::detail
