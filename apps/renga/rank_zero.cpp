// SPDX-License-Identifier: Apache-2.0
#include "rank_zero.hpp"

#include "renga/core/error.hpp"

namespace renga::app {

void on_rank_zero(const Communicator& world, const std::function<void()>& action) {
  std::string failure;
  if (world.rank() == 0) {
    try {
      action();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  failure = world.broadcast_text(failure, 0);
  if (!failure.empty()) {
    throw Error(failure);
  }
}

}  // namespace renga::app
