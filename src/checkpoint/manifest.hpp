// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace renga::detail {

constexpr const char* kManifestName = "manifest.json";

/// What a whole file looks like.
struct FileRecord {
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< zlib's
};

/// Reads the whole file. @throws FileError without the path, for the caller to add
FileRecord record_of(const std::string& path);

/// The list of a checkpoint's files, itself the last of them.
struct Manifest {
  std::int64_t step = 0;
  std::map<std::string, FileRecord> files;  ///< by path within the folder, "state/random.safetensors"
};

/// Describes all files in `folder` and those below it. Cost: reads them.
/// @throws FileError
Manifest describe_folder(const std::string& folder, std::int64_t step);

/// Writes `manifest.json`. @throws FileError
void write_manifest(const std::string& folder, const Manifest& manifest);

/// @throws FileError without the path if it is missing or is not a manifest that we could have written
Manifest read_manifest(const std::string& folder);

}  // namespace renga::detail
