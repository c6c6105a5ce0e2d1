// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace renga::detail {

/// How this process was started.
enum class Launcher {
  None,  ///< alone: a world of one
  Mpi    ///< by something that MPI_Init will find: mpiexec, or srun with PMI or PMIx
};

/// Reads the launcher's environment variables through `variable`.
/// @throws NotAvailable when a launcher started several processes that cannot find each other
Launcher discover(const std::function<std::optional<std::string>(const char*)>& variable);

/// The value of an environment variable of this process.
std::optional<std::string> environment_variable(const char* name);

}  // namespace renga::detail
