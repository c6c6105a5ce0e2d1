// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/comm/environment.hpp"

namespace renga::test {

/// The environment of the test program; only while its tests run.
Environment& environment();

/// All ranks of the test program.
Communicator world();

}  // namespace renga::test
