// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "renga/comm/environment.hpp"

namespace renga::app {

/// What `renga hostfile` was asked for.
struct HostfileOptions {
  std::string from;                   ///< slurm, pbs, lsf or sge; empty: whichever there is
  std::string hosts;                  ///< said by hand
  std::optional<std::int64_t> slots;  ///< processes of every host
  std::string format = "openmpi";
  std::string out;  ///< file; empty: standard output
};

void add_hostfile_options(CLI::App& command, HostfileOptions& options);

/// `renga hostfile`: the hosts of this job as a file for mpiexec. Done by rank 0. Collective.
void write_hostfile(Environment& environment, const HostfileOptions& options);

}  // namespace renga::app
