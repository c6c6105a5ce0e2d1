// SPDX-License-Identifier: Apache-2.0
#include "mpi_backend.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../self_backend.hpp"
#include "mpi_check.hpp"
#include "mpi_chunks.hpp"
#include "mpi_types.hpp"

namespace renga::detail {

MpiBackend::MpiBackend(MPI_Comm comm, MpiOptions options, std::shared_ptr<MpiUnfinished> unfinished)
    : unfinished_(std::move(unfinished)), comms_(std::make_shared<MpiComms>(comm)), options_(options) {
  check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

std::shared_ptr<Backend> MpiBackend::split(int color, int key) {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comms_->collective(), color < 0 ? MPI_UNDEFINED : color, key, &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) {
    return std::make_shared<SelfBackend>(shared_from_this());
  }
  return std::make_shared<MpiBackend>(part, options_, unfinished_);
}

bool MpiBackend::reduces(at::ScalarType dtype, ReduceOp op) const {
  return reduce_type(dtype) != MPI_DATATYPE_NULL && reduce_operator(op) != MPI_OP_NULL;
}

std::unique_ptr<MpiWork> MpiBackend::begin() {
  unfinished_->reap();
  return std::make_unique<MpiWork>(unfinished_, comms_);
}

std::unique_ptr<Work> MpiBackend::all_reduce(at::Tensor buffer, ReduceOp op) {
  auto work = begin();
  work->operation().keep(buffer);
  for_chunks(buffer, options_.chunk, [&](void* data, int count) {
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, data, count, reduce_type(buffer.scalar_type()), reduce_operator(op),
                             comms_->collective(), work->operation().add()),
              "MPI_Iallreduce");
  });
  return work;
}

std::unique_ptr<Work> MpiBackend::reduce_scatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op) {
  auto work = begin();
  work->operation().keep(output);
  auto* const result = static_cast<char*>(output.data_ptr());
  for (int root = 0; root < size_; ++root) {
    const at::Tensor& input = inputs[static_cast<std::size_t>(root)];
    work->operation().keep(input);
    auto* const first = static_cast<char*>(input.data_ptr());
    for_chunks(input, options_.chunk, [&](void* data, int count) {
      void* const target = root == rank_ ? result + (static_cast<char*>(data) - first) : nullptr;
      check_mpi(MPI_Ireduce(data, target, count, reduce_type(output.scalar_type()), reduce_operator(op), root,
                            comms_->collective(), work->operation().add()),
                "MPI_Ireduce");
    });
  }
  return work;
}

std::unique_ptr<Work> MpiBackend::broadcast(at::Tensor buffer, int root) {
  auto work = begin();
  work->operation().keep(buffer);
  for_chunks(buffer, options_.chunk, [&](void* data, int count) {
    check_mpi(MPI_Ibcast(data, count, transfer_type(buffer), root, comms_->collective(), work->operation().add()),
              "MPI_Ibcast");
  });
  return work;
}

std::unique_ptr<Work> MpiBackend::barrier() {
  auto work = begin();
  check_mpi(MPI_Ibarrier(comms_->collective(), work->operation().add()), "MPI_Ibarrier");
  return work;
}

// Asking for a message, even one that nobody sends, lets MPI do all that it has to do.
void MpiBackend::progress() {
  unfinished_->reap();
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms_->point(), &found, MPI_STATUS_IGNORE);
}

void MpiBackend::abort(int exit_code) {
  std::fflush(nullptr);
  MPI_Abort(comms_->collective(), exit_code);
  std::_Exit(exit_code);
}

}  // namespace renga::detail
