// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace renga {

/// The newest checkpoint that can be used, and why newer ones cannot.
struct WholeCheckpoint {
  std::int64_t step = 0;
  std::vector<std::string> damaged;  ///< newest first: "PATH/step-00000300: model.safetensors: ..."
};

/// The checkpoints of one run, side by side in a folder. Each is whole or is not taken for one:
///
///     RUN/step-00000200/             a checkpoint: any files, folders
///       model.safetensors
///       manifest.json                size and checksum of every file, written last
///     RUN/saving-step-00000300/      one that is being written, or what a killed job left of it
///
/// `begin` makes the folder to write to, `commit` adds the list and gives the folder its name: nobody ever sees half a
/// checkpoint under that name, and an earlier one is never touched.
///
/// Of one process and not collective: of several ranks, rank 0 has it and tells the others.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  /// "step-00000200"
  static std::string step_name(std::int64_t step);

  std::string path(std::int64_t step) const { return path_ + "/" + step_name(step); }

  /// Makes an empty folder to write checkpoint `step` to, and returns its path.
  /// @throws FileError
  std::string begin(std::int64_t step) const;

  /// Makes what was written since `begin` the checkpoint of that step, in place of what had its name. The files must be
  /// on the disk already (as `AtomicFile` leaves them). Cost: reads them once for their checksums.
  /// @throws FileError; what had the name before may then be gone, all other checkpoints are as they were
  void commit(std::int64_t step) const;

  /// Removes what was written since `begin`, as far as that is possible.
  void discard(std::int64_t step) const noexcept;

  /// Removes what jobs that were killed while saving left in the folder and below: "saving-step-*" and temporary
  /// files of `AtomicFile`. Only while nobody writes there. What cannot be removed stays.
  void remove_leftovers() const noexcept;

  /// All that have a checkpoint's name, whole or not, newest first; none if the folder cannot be read.
  std::vector<std::int64_t> steps() const;

  /// Cost: reads all its files.
  /// @throws FileError saying what is wrong, unless the checkpoint is whole
  void verify(std::int64_t step) const;

  /// Verifies checkpoints from the newest on until one is whole.
  /// @throws FileError if none is, with the reasons
  WholeCheckpoint newest_whole() const;

 private:
  std::string saving_path(std::int64_t step) const { return path_ + "/saving-" + step_name(step); }

  std::string path_;
};

}  // namespace renga
