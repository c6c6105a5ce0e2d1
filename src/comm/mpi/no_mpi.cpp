// SPDX-License-Identifier: Apache-2.0
// Takes the place of the MPI backend in builds without MPI.
#include "renga/core/error.hpp"

#include "mpi_start.hpp"

namespace renga::detail {

std::shared_ptr<MpiStart> start_mpi() {
  throw NotAvailable("mpi: built without MPI; configure with -DRENGA_WITH_MPI=ON");
}

}  // namespace renga::detail
