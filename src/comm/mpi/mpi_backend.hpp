// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "renga/comm/backend.hpp"

#include "mpi_start.hpp"
#include "mpi_work.hpp"

namespace renga::detail {

/// Reductions are MPI's; what only moves data goes in messages, whose sizes both ends know.
class MpiBackend : public Backend, public std::enable_shared_from_this<MpiBackend> {
 public:
  /// Takes over `comm`.
  MpiBackend(MPI_Comm comm, MpiOptions options, std::shared_ptr<MpiUnfinished> unfinished);

  std::string name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
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
  void progress() override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  /// One message stream: a communicator and a tag.
  struct Channel {
    MPI_Comm comm;
    int tag;
  };
  std::unique_ptr<MpiWork> begin();
  /// Of the next collective that sends messages; the same on every rank.
  Channel next_channel();
  void post_send(MpiOperation& operation, const at::Tensor& buffer, int peer, Channel channel);
  void post_receive(MpiOperation& operation, const at::Tensor& buffer, int peer, Channel channel);

  std::shared_ptr<MpiUnfinished> unfinished_;
  std::shared_ptr<MpiComms> comms_;
  MpiOptions options_;
  int rank_ = 0;
  int size_ = 0;
  int collectives_ = 0;
};

}  // namespace renga::detail
