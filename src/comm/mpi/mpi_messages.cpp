// SPDX-License-Identifier: Apache-2.0
// The operations of the MPI backend that only move data. Both ends of a message know its size, so it
// can be cut alike on both; MPI's own v-collectives would need every rank's sizes to cut theirs.
#include <cstring>

#include "mpi_backend.hpp"
#include "mpi_check.hpp"
#include "mpi_chunks.hpp"
#include "mpi_types.hpp"

namespace renga::detail {
namespace {

constexpr int kTags = 32768;  // every MPI has tags up to 32767

// An input may be the very memory of its output.
void copy_own(const at::Tensor& output, const at::Tensor& input) {
  if (input.numel() > 0) {
    std::memmove(output.data_ptr(), input.data_ptr(), input.nbytes());
  }
}

}  // namespace

MpiBackend::Channel MpiBackend::next_channel() {
  collectives_ = (collectives_ + 1) % kTags;
  return {comms_->collective(), collectives_};
}

void MpiBackend::post_send(MpiOperation& operation, const at::Tensor& buffer, int peer, Channel channel) {
  operation.keep(buffer);
  const MPI_Datatype type = transfer_type(buffer);
  for_chunks(buffer, options_.chunk, [&](const void* data, int count) {
    check_mpi(MPI_Isend(data, count, type, peer, channel.tag, channel.comm, operation.add()), "MPI_Isend");
  });
}

void MpiBackend::post_receive(MpiOperation& operation, const at::Tensor& buffer, int peer, Channel channel) {
  operation.keep(buffer);
  const MPI_Datatype type = transfer_type(buffer);
  for_chunks(buffer, options_.chunk, [&](void* data, int count) {
    check_mpi(MPI_Irecv(data, count, type, peer, channel.tag, channel.comm, operation.add_receive(type, count)),
              "MPI_Irecv");
  });
}

std::unique_ptr<Work> MpiBackend::all_gather(std::vector<at::Tensor> outputs, at::Tensor input) {
  return all_to_all(std::move(outputs), std::vector<at::Tensor>(static_cast<std::size_t>(size_), input));
}

std::unique_ptr<Work> MpiBackend::all_to_all(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) {
  auto work = begin();
  const Channel channel = next_channel();
  // Each rank starts with its next neighbour, or all would send to rank 0 first.
  for (int step = 1; step < size_; ++step) {
    const int peer = (rank_ - step + size_) % size_;
    post_receive(work->operation(), outputs[static_cast<std::size_t>(peer)], peer, channel);
  }
  for (int step = 1; step < size_; ++step) {
    const int peer = (rank_ + step) % size_;
    post_send(work->operation(), inputs[static_cast<std::size_t>(peer)], peer, channel);
  }
  const auto own = static_cast<std::size_t>(rank_);
  copy_own(outputs[own], inputs[own]);
  return work;
}

std::unique_ptr<Work> MpiBackend::gather(std::vector<at::Tensor> outputs, at::Tensor input, int root) {
  auto work = begin();
  const Channel channel = next_channel();
  if (rank_ != root) {
    post_send(work->operation(), input, root, channel);
    return work;
  }
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != root) {
      post_receive(work->operation(), outputs[static_cast<std::size_t>(peer)], peer, channel);
    }
  }
  copy_own(outputs[static_cast<std::size_t>(rank_)], input);
  return work;
}

std::unique_ptr<Work> MpiBackend::scatter(at::Tensor output, std::vector<at::Tensor> inputs, int root) {
  auto work = begin();
  const Channel channel = next_channel();
  if (rank_ != root) {
    post_receive(work->operation(), output, root, channel);
    return work;
  }
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != root) {
      post_send(work->operation(), inputs[static_cast<std::size_t>(peer)], peer, channel);
    }
  }
  copy_own(output, inputs[static_cast<std::size_t>(rank_)]);
  return work;
}

std::unique_ptr<Work> MpiBackend::send(at::Tensor buffer, int peer, int tag) {
  auto work = begin();
  post_send(work->operation(), buffer, peer, {comms_->point(), tag});
  return work;
}

std::unique_ptr<Work> MpiBackend::receive(at::Tensor buffer, int peer, int tag) {
  auto work = begin();
  post_receive(work->operation(), buffer, peer, {comms_->point(), tag});
  return work;
}

}  // namespace renga::detail
