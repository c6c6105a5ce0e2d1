// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "renga/comm/communicator.hpp"

namespace renga::app {

/// Runs `action` on rank 0 only. What it throws is thrown on every rank, as a FileError if it is one, else as an
/// Error, so that all leave together with one message. Collective.
void on_rank_zero(const Communicator& world, const std::function<void()>& action);

/// The content of a file that rank 0 reads, on every rank. Collective.
/// @throws FileError on every rank, ending in `hint`, if it cannot be read
std::string read_on_rank_zero(const Communicator& world, const std::string& path, const std::string& hint = "");

}  // namespace renga::app
