// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace renga::detail {

/// @throws CommunicationError "function: what MPI says" unless `code` is MPI_SUCCESS
void check_mpi(int code, const char* function);

}  // namespace renga::detail
