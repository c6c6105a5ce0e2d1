// SPDX-License-Identifier: Apache-2.0
#include "rank_zero.hpp"

#include <fstream>
#include <sstream>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

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

std::string read_on_rank_zero(const Communicator& world, const std::string& path, const std::string& hint) {
  std::string content;
  on_rank_zero(world, [&] {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    if (!in || !(out << in.rdbuf())) {
      throw FileError(text("read: ", path, ": cannot be read", hint));
    }
    content = out.str();
  });
  return world.broadcast_text(content, 0);
}

}  // namespace renga::app
