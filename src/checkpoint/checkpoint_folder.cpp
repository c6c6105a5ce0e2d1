// SPDX-License-Identifier: Apache-2.0
#include "renga/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "manifest.hpp"
#include "sync.hpp"

namespace renga {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStepPrefix = "step-";
constexpr const char* kSavingPrefix = "saving-step-";
constexpr const char* kTemporaryMark = ".tmp-";
constexpr std::size_t kStepDigits = 8;
constexpr std::size_t kReasonsShown = 3;

bool are_digits(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Nothing for names that `step_name` does not give.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) {
    return std::nullopt;
  }
  const std::string digits = name.substr(std::string(kStepPrefix).size());
  std::int64_t step = 0;
  const bool is_number =
      are_digits(digits) && std::from_chars(digits.data(), digits.data() + digits.size(), step).ec == std::errc();
  return is_number && CheckpointFolder::step_name(step) == name ? std::optional(step) : std::nullopt;
}

// As AtomicFile names them: with the number of a process.
bool is_temporary_file(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  const auto mark = name.rfind(kTemporaryMark);
  return mark != std::string::npos && are_digits(name.substr(mark + std::string(kTemporaryMark).size())) &&
         entry.is_regular_file();
}

[[noreturn]] void fail(const std::string& path, const char* what, const std::error_code& error) {
  throw FileError(text("checkpoint: ", path, ": ", what, ": ", error.message()));
}

std::vector<fs::path> leftovers(const std::string& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(kSavingPrefix)) {
      found.push_back(entry.path());
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (is_temporary_file(entry)) {
      found.push_back(entry.path());
    }
  }
  return found;
}

}  // namespace

std::string CheckpointFolder::step_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return kStepPrefix + std::string(kStepDigits - std::min(digits.size(), kStepDigits), '0') + digits;
}

std::string CheckpointFolder::begin(std::int64_t step) const {
  const std::string folder = saving_path(step);
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    fs::create_directory(folder, error);  // not those above it: a run that vanished does not come back as half of one
  }
  if (error) {
    fail(folder, "cannot make the folder", error);
  }
  return folder;
}

void CheckpointFolder::commit(std::int64_t step) const {
  const std::string folder = saving_path(step);
  detail::write_manifest(folder, detail::describe_folder(folder, step));
  std::error_code error;
  fs::remove_all(path(step), error);  // a folder that is not empty cannot be renamed over
  if (!error) {
    fs::rename(folder, path(step), error);
  }
  if (error) {
    fail(path(step), "cannot put the checkpoint into place", error);
  }
  if (const int number = detail::sync_folder_of(path(step)); number != 0) {
    fail(path(step), "written, but its folder cannot be brought to the disk",
         std::error_code(number, std::generic_category()));
  }
}

void CheckpointFolder::discard(std::int64_t step) const noexcept {
  std::error_code ignored;
  fs::remove_all(saving_path(step), ignored);
}

void CheckpointFolder::remove_leftovers() const noexcept {
  try {
    for (const auto& path : leftovers(path_)) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } catch (const std::exception&) {  // what cannot be listed stays: it harms nobody
  }
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> found;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto step = step_of(entry->path().filename().string())) {
      found.push_back(*step);
    }
  }
  std::ranges::sort(found, std::ranges::greater());
  return found;
}

void CheckpointFolder::verify(std::int64_t step) const {
  std::string name = detail::kManifestName;
  try {
    const detail::Manifest manifest = detail::read_manifest(path(step));
    if (manifest.step != step) {
      throw FileError(text("step: expected ", step, ", got ", manifest.step));
    }
    for (const auto& [file, expected] : manifest.files) {
      name = file;
      const detail::FileRecord got = detail::record_of(path(step) + "/" + file);
      if (got.bytes != expected.bytes) {
        throw FileError(text("expected ", expected.bytes, " bytes, got ", got.bytes));
      }
      if (got.crc32 != expected.crc32) {
        throw FileError(text("damaged: expected checksum ", expected.crc32, ", got ", got.crc32));
      }
    }
  } catch (const FileError& error) {
    throw FileError(text("checkpoint: ", path(step), ": ", name, ": ", error.what()));
  }
}

WholeCheckpoint CheckpointFolder::newest_whole() const {
  WholeCheckpoint found;
  for (const std::int64_t step : steps()) {
    try {
      verify(step);
      found.step = step;
      return found;
    } catch (const FileError& error) {
      found.damaged.emplace_back(error.what());
    }
  }
  std::string reasons;
  for (std::size_t i = 0; i < std::min(found.damaged.size(), kReasonsShown); ++i) {
    reasons += (i == 0 ? ": " : "; ") + found.damaged[i];
  }
  const std::size_t count = found.damaged.size();
  throw FileError(text("checkpoint: ", path_, ": expected a whole checkpoint, got ",
                       count == 0 ? "none at all" : text(count, " that are damaged"), reasons));
}

}  // namespace renga
