// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "renga/comm/communicator.hpp"

#include "tests/checkpoint/temporary_folder.hpp"

/// One temporary folder that all ranks know. Collective: made, and removed when the last rank is done.
class SharedFolder {
 public:
  explicit SharedFolder(renga::Communicator world) : world_(std::move(world)) {
    if (world_.rank() == 0) {
      owned_.emplace();
    }
    path_ = world_.broadcast_text(owned_ ? owned_->path() : "", 0);
  }
  ~SharedFolder() { world_.barrier(); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  renga::Communicator world_;
  std::optional<TemporaryFolder> owned_;
  std::string path_;
};
