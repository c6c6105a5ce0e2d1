// SPDX-License-Identifier: Apache-2.0
#include "mpi_start.hpp"

#include <mpi.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "mpi_backend.hpp"
#include "mpi_check.hpp"
#include "mpi_work.hpp"

namespace renga::detail {
namespace {

constexpr std::chrono::duration<double> kDrain{2.0};

void require_threads(int provided) {
  if (provided < MPI_THREAD_SERIALIZED) {
    throw NotAvailable(
        text("mpi: thread level: expected MPI_THREAD_SERIALIZED (", MPI_THREAD_SERIALIZED, "), got ", provided));
  }
}

class MpiSession : public MpiStart {
 public:
  MpiSession() {
    int initialized = 0;
    check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
    int provided = 0;
    if (initialized != 0) {
      check_mpi(MPI_Query_thread(&provided), "MPI_Query_thread");
    } else {
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
      owner_ = true;
    }
    require_threads(provided);
  }

  std::shared_ptr<Backend> world(MpiOptions options) override {
    MPI_Comm all = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &all), "MPI_Comm_dup");
    return std::make_shared<MpiBackend>(all, options, unfinished_);
  }

  void finalize() override {
    unfinished_->drain(kDrain);
    if (owner_) {
      check_mpi(MPI_Finalize(), "MPI_Finalize");
    }
  }

 private:
  bool owner_ = false;
  std::shared_ptr<MpiUnfinished> unfinished_ = std::make_shared<MpiUnfinished>();
};

}  // namespace

std::shared_ptr<MpiStart> start_mpi() { return std::make_shared<MpiSession>(); }

}  // namespace renga::detail
