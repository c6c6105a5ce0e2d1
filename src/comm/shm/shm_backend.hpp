// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "renga/comm/backend.hpp"
#include "renga/comm/communicator.hpp"

#include "../engines.hpp"
#include "shared_host.hpp"
#include "shm_group.hpp"

namespace renga::detail {

/// Collectives through memory that the ranks of one host share; the rest, and the start, is another backend's.
class ShmBackend : public Backend {
 public:
  /// Collective over the ranks of `inner`, which are the members of `host` or some of them.
  /// @param timeout  seconds that the ranks may take to come
  ShmBackend(std::shared_ptr<Backend> inner, std::shared_ptr<SharedHost> host, std::chrono::duration<double> timeout);

  std::string name() const override { return "shm"; }
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::shared_ptr<Backend> split(int color, int key) override;
  at::Tensor allocate(std::int64_t elements, at::ScalarType dtype) override;
  bool reduces(at::ScalarType dtype, ReduceOp op) const override;
  std::unique_ptr<Work> all_reduce(at::Tensor buffer, ReduceOp op) override;
  std::unique_ptr<Work> reduce_scatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op) override;
  std::unique_ptr<Work> all_gather(std::vector<at::Tensor> outputs, at::Tensor input) override;
  std::unique_ptr<Work> all_to_all(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) override;
  std::unique_ptr<Work> broadcast(at::Tensor buffer, int root) override;
  std::unique_ptr<Work> gather(std::vector<at::Tensor> outputs, at::Tensor input, int root) override;
  std::unique_ptr<Work> scatter(at::Tensor output, std::vector<at::Tensor> inputs, int root) override;
  std::unique_ptr<Work> send(at::Tensor buffer, int peer, int tag) override;
  std::unique_ptr<Work> receive(at::Tensor buffer, int peer, int tag) override;
  std::unique_ptr<Work> barrier() override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  std::unique_ptr<Work> start(std::unique_ptr<ShmSteps> steps);
  std::unique_ptr<Work> passed_on(std::unique_ptr<Work> work);

  std::shared_ptr<Backend> inner_;
  std::shared_ptr<SharedHost> host_;
  std::chrono::duration<double> timeout_;
  std::shared_ptr<ShmGroup> group_;
};

/// A backend for the ranks of `inner` that shares memory; `inner` itself for a single rank. Collective.
/// @param ranks  a communicator of `inner`
/// @param engines  gets what must go on while this process waits for other things
/// @throws NotAvailable on every rank if one cannot share its memory, or they are on several hosts
std::shared_ptr<Backend> share_memory(std::shared_ptr<Backend> inner, const Communicator& ranks, Engines& engines);

}  // namespace renga::detail
