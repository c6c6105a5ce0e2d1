// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace renga::train {

/// Holds a folder for one process, as long as it lives: a job that was killed may have left a process that still
/// writes there. The system lets go when the process ends, however it ends. Advisory; where the file system
/// knows no locks nothing is held.
class FolderLock {
 public:
  /// Waits some seconds for a process that is about to end.
  /// @throws FileError if another process has the folder, or it cannot be opened
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace renga::train
