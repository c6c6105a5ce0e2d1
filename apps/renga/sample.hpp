// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/comm/environment.hpp"

#include "options.hpp"

namespace renga::app {

/// `renga sample RUN`: images from a run's saved generator, as one PNG. Done by rank 0. Collective.
void sample_run(Environment& environment, const SampleOptions& options);

}  // namespace renga::app
