// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/comm/environment.hpp"

#include "options.hpp"

namespace renga::app {

/// `renga bench train`: steps of DCGAN in plain LibTorch, in renga on one process and in renga on all,
/// taken in turn in one run, as tables of medians and ratios. Collective.
void bench_train(Environment& environment, const BenchOptions& options);

}  // namespace renga::app
