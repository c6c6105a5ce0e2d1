// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kFormat = "renga checkpoint";
constexpr int kVersion = 1;
constexpr const char* kAltered = "damaged: not as it was written";
constexpr std::size_t kChunk = std::size_t{1} << 20;

void require(bool holds, const std::string& message) {
  if (!holds) {
    throw FileError(message);
  }
}

Manifest from_json(const Json& json) {
  require(json.is_object() && json.value("format", Json()) == kFormat, "not the list of a checkpoint's files");
  const Json version = json.value("version", Json());
  require(version == kVersion, text("version: expected ", kVersion, ", got ", version.dump()));
  Manifest manifest;
  manifest.step = json.at("step").get<std::int64_t>();
  for (const auto& [name, entry] : json.at("files").items()) {
    const fs::path path(name);
    const bool is_below = path.is_relative() && std::ranges::find(path, "..") == path.end();
    require(is_below, text("files: expected paths within the folder, got ", name));
    manifest.files[name] = {entry.at("bytes").get<std::uint64_t>(), entry.at("crc32").get<std::uint32_t>()};
  }
  require(!manifest.files.empty(), "files: expected at least one, got none");
  return manifest;
}

// Always the same text for the same list.
std::string to_text(const Manifest& manifest) {
  auto json = nlohmann::ordered_json{{"format", kFormat}, {"version", kVersion}, {"step", manifest.step}};
  for (const auto& [name, record] : manifest.files) {
    json["files"][name] = {{"bytes", record.bytes}, {"crc32", record.crc32}};
  }
  return json.dump(2) + "\n";
}

}  // namespace

FileRecord record_of(const std::string& path) {
  std::error_code error;
  require(fs::is_regular_file(path, error), fs::exists(path, error) ? "not an ordinary file" : "missing");
  std::ifstream in(path, std::ios::binary);
  require(in.is_open(), "cannot be opened");
  std::vector<char> chunk(kChunk);
  FileRecord record;
  while (in) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto got = static_cast<std::size_t>(in.gcount());
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): zlib's bytes are unsigned
    const auto* bytes = reinterpret_cast<const Bytef*>(chunk.data());
    record.crc32 = static_cast<std::uint32_t>(::crc32(record.crc32, bytes, static_cast<uInt>(got)));
    record.bytes += got;
  }
  require(in.eof() && !in.bad(), "cannot be read");
  return record;
}

Manifest describe_folder(const std::string& folder, std::int64_t step) {
  Manifest manifest{step, {}};
  try {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().lexically_relative(folder).generic_string();
      if (!entry.is_directory() && name != kManifestName) {
        manifest.files[name] = record_of(entry.path().string());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw FileError(text("checkpoint: ", folder, ": cannot be read: ", error.code().message()));
  } catch (const FileError& error) {
    throw FileError(text("checkpoint: ", folder, ": a file that was just written: ", error.what()));
  }
  return manifest;
}

void write_manifest(const std::string& folder, const Manifest& manifest) {
  AtomicFile file(folder + "/" + kManifestName);
  file.write(to_text(manifest));
  file.commit();
}

Manifest read_manifest(const std::string& folder) {
  std::ifstream in(folder + "/" + kManifestName, std::ios::binary);
  require(in.is_open(), "missing");
  std::ostringstream content;
  content << in.rdbuf();
  Manifest manifest;
  try {
    manifest = from_json(Json::parse(content.str()));
  } catch (const Json::exception&) {  // its texts speak of columns and tokens
    throw FileError(kAltered);
  }
  // Also what changes no value: a manifest has no checksum of its own.
  require(content.str() == to_text(manifest), kAltered);
  return manifest;
}

}  // namespace renga::detail
