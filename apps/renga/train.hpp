// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/comm/environment.hpp"

#include "options.hpp"

namespace renga::app {

/// `renga train dcgan`. Collective.
void train_dcgan(Environment& environment, const TrainOptions& options);

}  // namespace renga::app
