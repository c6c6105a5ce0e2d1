// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <mpi.h>

#include "renga/comm/backend.hpp"

namespace renga::detail {

/// The two MPI communicators of a backend: user's tags must not meet those of collectives.
/// Freed when the backend and the last operation on it are gone.
class MpiComms {
 public:
  /// Takes over `collective`; duplicates it. Collective.
  explicit MpiComms(MPI_Comm collective);
  ~MpiComms();
  MpiComms(const MpiComms&) = delete;
  MpiComms& operator=(const MpiComms&) = delete;

  MPI_Comm collective() const { return collective_; }
  MPI_Comm point() const { return point_; }
  void set_broken() { broken_ = true; }

 private:
  MPI_Comm collective_;
  MPI_Comm point_ = MPI_COMM_NULL;
  bool broken_ = false;
};

/// MPI requests that together are one operation, and the memory they use.
class MpiOperation {
 public:
  explicit MpiOperation(std::shared_ptr<MpiComms> comms) : comms_(std::move(comms)) {}

  void keep(at::Tensor tensor) { kept_.push_back(std::move(tensor)); }
  /// The place of a request that is about to be started.
  MPI_Request* add();
  /// As above for a receive, which must bring exactly `count` elements.
  MPI_Request* add_receive(MPI_Datatype type, int count);
  bool test();

 private:
  struct Expected {
    std::size_t request;
    MPI_Datatype type;
    int count;
  };
  void check_received() const;

  std::shared_ptr<MpiComms> comms_;
  std::vector<at::Tensor> kept_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Expected> expected_;
};

/// Operations that were dropped while MPI still used their memory.
class MpiUnfinished {
 public:
  MpiUnfinished() = default;
  /// Leaves in memory what MPI still uses.
  ~MpiUnfinished();
  MpiUnfinished(const MpiUnfinished&) = delete;
  MpiUnfinished& operator=(const MpiUnfinished&) = delete;

  void adopt(std::unique_ptr<MpiOperation> operation);
  /// Lets go of those that are done by now.
  void reap();
  /// Reaps until none is left or the time is over; what is then left stays in memory for good.
  void drain(std::chrono::duration<double> limit);

 private:
  std::list<std::unique_ptr<MpiOperation>> operations_;
};

/// A caller's hold on an operation.
class MpiWork : public Work {
 public:
  MpiWork(std::shared_ptr<MpiUnfinished> unfinished, std::shared_ptr<MpiComms> comms);
  ~MpiWork() override;
  MpiWork(const MpiWork&) = delete;
  MpiWork& operator=(const MpiWork&) = delete;

  MpiOperation& operation() { return *operation_; }
  bool test() override;

 private:
  std::shared_ptr<MpiUnfinished> unfinished_;
  std::unique_ptr<MpiOperation> operation_;  ///< null once done
};

}  // namespace renga::detail
