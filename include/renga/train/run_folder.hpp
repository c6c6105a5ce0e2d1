// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "renga/train/value.hpp"

namespace renga::train {

class FolderLock;

/// The folder of one training run. Only rank 0 makes one; the others need at most the paths. As long as
/// it lives no other process can make one for this folder.
///
///     runs/dcgan-2024-05-31-174501/
///       config.json                    how the run was started
///       log.jsonl                      one JSON object a line
///       samples/step-00000100.png
///       step-00000100/                 a checkpoint
class RunFolder {
 public:
  /// "runs/MODEL-YYYY-MM-DD-HHMMSS" in local time, with "-2", "-3", ... if that is taken.
  static std::string default_path(const std::string& model);

  /// A new run: makes the folder and those above it.
  /// @throws FileError if it exists and is not empty, cannot be written, or another process has it
  static RunFolder create(const std::string& path);

  /// A run to go on with.
  /// @throws FileError if there is no run (no config.json), it cannot be written, or another process has it
  static RunFolder open(const std::string& path);

  /// Tries once more to write lines that could not be written.
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string config_path() const { return path_ + "/config.json"; }
  std::string log_path() const { return path_ + "/log.jsonl"; }
  std::string sample_path(std::int64_t step) const;  ///< samples/step-NNNNNNNN.png

  /// Replaces config.json. @throws FileError if it cannot be written
  void write_config(const Fields& config) const;

  /// Appends one line to log.jsonl; on return it is in the file. A log that cannot be written (full
  /// disk, file system gone for a while) must not end a run: a warning is printed once, the lines
  /// stay in memory, and every further call tries to write them all. Never throws FileError.
  void log(const Fields& fields);

  /// Takes the lines of later steps out of log.jsonl, and those that a killed run left half written: the log then
  /// reads as if the run had ended after `step`. Replaces the file, which appears whole or not at all.
  /// @throws FileError if it cannot be read or written
  void cut_log(std::int64_t step);

  /// Writes an image for `sample_path(step)`, see `write_png`. Failure to write is a warning.
  /// @throws InvalidArgument for an image that `write_png` does not take
  void write_sample(std::int64_t step, const at::Tensor& image) const;

 private:
  explicit RunFolder(const std::string& path);
  void flush();

  std::string path_;
  std::unique_ptr<FolderLock> lock_;
  std::string pending_;      ///< lines, the first perhaps without its beginning, not yet in the file
  bool is_failing_ = false;  ///< the last attempt to write failed, and a warning said so
};

}  // namespace renga::train
