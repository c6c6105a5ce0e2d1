// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "renga/comm/communicator.hpp"

namespace renga::app {

/// Runs `action` on rank 0 only. What it throws is thrown on every rank, as a FileError if it is one, else as an
/// Error, so that all leave together with one message. Collective.
void on_rank_zero(const Communicator& world, const std::function<void()>& action);

}  // namespace renga::app
