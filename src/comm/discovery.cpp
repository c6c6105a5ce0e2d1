// SPDX-License-Identifier: Apache-2.0
#include "discovery.hpp"

#include <cstdlib>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

constexpr const char* kAdvice = "start the program with mpiexec, or with srun --mpi=pmix";

bool above_one(const std::optional<std::string>& value) {
  return value && std::strtol(value->c_str(), nullptr, 10) > 1;
}

}  // namespace

Launcher discover(const std::function<std::optional<std::string>(const char*)>& variable) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"}) {
    if (variable(name)) {
      return Launcher::Mpi;
    }
  }
  // A batch script's own processes see SLURM_NTASKS too; only a step of several tasks is a job.
  if (variable("SLURM_STEP_ID") && above_one(variable("SLURM_STEP_NUM_TASKS"))) {
    throw NotAvailable(text("start: srun started ", *variable("SLURM_STEP_NUM_TASKS"),
                            " tasks without PMI, so they cannot find each other; ", kAdvice));
  }
  if (above_one(variable("WORLD_SIZE"))) {
    throw NotAvailable(text("start: WORLD_SIZE: expected 1 or unset, got ", *variable("WORLD_SIZE"),
                            ": this build has no env:// start; ", kAdvice));
  }
  return Launcher::None;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace renga::detail
