// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "renga/comm/backend.hpp"

namespace renga::detail {

/// A group of one process: what is sent arrives at once.
class SelfBackend : public Backend {
 public:
  /// @param job  the backend that ends the job in `abort`, when this process is not alone in it
  explicit SelfBackend(std::shared_ptr<Backend> job = nullptr) : job_(std::move(job)) {}

  std::string name() const override { return "self"; }
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::shared_ptr<Backend> split(int color, int key) override;
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
  std::shared_ptr<Backend> job_;
};

}  // namespace renga::detail
