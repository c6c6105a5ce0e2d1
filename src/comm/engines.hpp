// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace renga::detail {

/// What goes on while this process waits, whatever it waits for: a rank may wait for one that waits for something else
/// of it.
struct Engines {
  std::vector<std::function<void()>> all;
  void run() const {
    for (const auto& engine : all) {
      engine();
    }
  }
};

}  // namespace renga::detail
