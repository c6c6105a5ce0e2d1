// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace renga {

/// A file that appears whole or not at all.
///
/// Bytes go to a file of the same folder that has no name; `commit` makes them durable and gives it its name.
/// Without `commit` it is gone with the object, or with the process, however that ends: an error, an exception or
/// SIGKILL leaves nothing half written and an older file of that name untouched.
///
/// Where the file system knows no files without a name (NFS, FAT, some of FUSE), they go to `path.tmp-<process id>`,
/// which only a process that is killed leaves behind. Used by one thread of one process: for a file that several ranks
/// have in common only one of them writes.
class AtomicFile {
 public:
  enum class Temporary {
    Nameless,  ///< if the file system has it
    Named      ///< as where it has not
  };

  /// Creates the temporary file; the folder must exist.
  /// @throws FileError naming the path and the system's reason
  explicit AtomicFile(std::string path, Temporary temporary = Temporary::Nameless);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends all `size` bytes.
  /// @throws FileError (disk full, quota, input/output error, ...); the temporary file is then removed
  /// @throws InvalidArgument after `commit` or after an error
  void write(const void* data, std::size_t size);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }

  /// Waits until the bytes are on the disk, then gives the file its name. Cost: two fsync calls.
  /// @throws FileError; the temporary file is then removed
  void commit();

  const std::string& path() const { return path_; }

 private:
  void discard() noexcept;
  int put_into_place();
  [[noreturn]] void fail(const char* what, int error_number);

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  bool is_nameless_ = false;
};

}  // namespace renga
