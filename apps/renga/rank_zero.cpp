// SPDX-License-Identifier: Apache-2.0
#include "rank_zero.hpp"

#include "renga/core/error.hpp"

namespace renga::app {

void on_rank_zero(const Communicator& world, const std::function<void()>& action) {
  std::string file_failure;
  std::string failure;
  if (world.rank() == 0) {
    try {
      action();
    } catch (const FileError& error) {
      file_failure = error.what();
    } catch (const std::exception& error) {
      failure = error.what();
    }
  }
  file_failure = world.broadcast_text(file_failure, 0);
  failure = world.broadcast_text(failure, 0);
  if (!file_failure.empty()) {
    throw FileError(file_failure);
  }
  if (!failure.empty()) {
    throw Error(failure);
  }
}

}  // namespace renga::app
