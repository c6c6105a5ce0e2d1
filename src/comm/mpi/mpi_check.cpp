// SPDX-License-Identifier: Apache-2.0
#include "mpi_check.hpp"

#include <array>

#include <mpi.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {

void check_mpi(int code, const char* function) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(code, reason.data(), &length);
  throw CommunicationError(text(function, ": ", reason.data()));
}

}  // namespace renga::detail
