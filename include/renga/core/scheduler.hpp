// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "renga/core/host_list.hpp"

namespace renga {

/// What an environment variable holds, or nothing.
using Variables = std::function<std::optional<std::string>(const char* name)>;

/// The hosts that a cluster's scheduler has given this job, each once, in the scheduler's order, with the processes it may run.
///
/// | scheduler | variables read, the first that is there |
/// |---|---|
/// | slurm | SLURM_JOB_NODELIST or SLURM_NODELIST, with SLURM_TASKS_PER_NODE or SLURM_JOB_CPUS_PER_NODE |
/// | pbs | PBS_NODEFILE: a file with one line a process |
/// | lsf | LSB_DJOB_HOSTFILE: such a file; LSB_MCPU_HOSTS: "a 4 b 2"; LSB_HOSTS: "a a b" |
/// | sge | PE_HOSTFILE: a file with lines "host processes queue cores" |
///
/// @param scheduler  slurm, pbs, lsf or sge; empty: the one whose variables are set
/// @throws InvalidArgument if there is none, or more than one and none is named, or a variable cannot be read
/// @throws FileError if a file cannot be read
std::vector<HostSlots> scheduler_hosts(const Variables& variables, const std::string& scheduler = "");

}  // namespace renga
