// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/comm/communicator.hpp"

#include "options.hpp"

namespace renga::app {

/// The options to go on with the run `given.resume`: those of its config.json, and from the command line what changes
/// nothing of what is computed (how far, where, what is shown and kept). Collective; rank 0 reads.
/// @throws FileError on every rank if there is no such run
/// @throws UsageError on every rank for an option that contradicts the run; names it, the run's value and the one given
TrainOptions resumed_options(const Communicator& world, const TrainOptions& given);

}  // namespace renga::app
