// SPDX-License-Identifier: Apache-2.0
#include "mpi_work.hpp"

#include <exception>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "../backoff.hpp"
#include "mpi_check.hpp"

namespace renga::detail {
namespace {

bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

}  // namespace

MpiComms::MpiComms(MPI_Comm collective) : collective_(collective) {
  check_mpi(MPI_Comm_set_errhandler(collective_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_dup(collective_, &point_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(point_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

// Freeing is collective: not when this rank alone is on its way out.
MpiComms::~MpiComms() {
  if (broken_ || finalized() || std::uncaught_exceptions() > 0) {
    return;
  }
  MPI_Comm_free(&point_);
  MPI_Comm_free(&collective_);
}

MPI_Request* MpiOperation::add() {
  requests_.push_back(MPI_REQUEST_NULL);
  return &requests_.back();
}

MPI_Request* MpiOperation::add_receive(MPI_Datatype type, int count) {
  expected_.push_back({requests_.size(), type, count});
  return add();
}

bool MpiOperation::test() {
  if (requests_.empty()) {
    return true;
  }
  statuses_.resize(requests_.size());
  int done = 0;
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses_.data());
  if (code != MPI_SUCCESS) {
    comms_->set_broken();
  }
  if (code == MPI_ERR_IN_STATUS) {
    for (const MPI_Status& status : statuses_) {
      if (status.MPI_ERROR != MPI_ERR_PENDING) {
        check_mpi(status.MPI_ERROR, "MPI_Testall");
      }
    }
  }
  check_mpi(code, "MPI_Testall");
  if (done == 0) {
    return false;
  }
  check_received();
  return true;
}

void MpiOperation::check_received() const {
  for (const Expected& expected : expected_) {
    int count = 0;
    const MPI_Status& status = statuses_[expected.request];
    check_mpi(MPI_Get_count(&status, expected.type, &count), "MPI_Get_count");
    if (count != expected.count) {
      comms_->set_broken();
      throw CommunicationError(
          text("expected ", expected.count, " elements from rank ", status.MPI_SOURCE, ", got ", count));
    }
  }
}

MpiUnfinished::~MpiUnfinished() {
  if (!finalized()) {
    drain(std::chrono::seconds(0));
  }
}

void MpiUnfinished::adopt(std::unique_ptr<MpiOperation> operation) { operations_.push_back(std::move(operation)); }

void MpiUnfinished::reap() {
  operations_.remove_if([](const std::unique_ptr<MpiOperation>& operation) {
    try {
      return operation->test();
    } catch (const CommunicationError&) {
      return false;  // nobody waits for it, but MPI may still use its memory
    }
  });
}

void MpiUnfinished::drain(std::chrono::duration<double> limit) {
  Backoff backoff(FirstWait::Yield);
  for (reap(); !operations_.empty() && backoff.waited() < limit; reap()) {
    backoff.pause();
  }
  for (std::unique_ptr<MpiOperation>& operation : operations_) {
    static_cast<void>(operation.release());
  }
  operations_.clear();
}

MpiWork::MpiWork(std::shared_ptr<MpiUnfinished> unfinished, std::shared_ptr<MpiComms> comms)
    : unfinished_(std::move(unfinished)), operation_(std::make_unique<MpiOperation>(std::move(comms))) {}

MpiWork::~MpiWork() {
  if (operation_) {
    unfinished_->adopt(std::move(operation_));
  }
}

bool MpiWork::test() {
  if (operation_ && operation_->test()) {
    operation_.reset();
  }
  return !operation_;
}

}  // namespace renga::detail
