// SPDX-License-Identifier: Apache-2.0
#include "renga/train/run_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/checkpoint/checkpoint_folder.hpp"
#include "renga/core/error.hpp"
#include "renga/core/log.hpp"
#include "renga/core/text.hpp"
#include "renga/train/image.hpp"

#include "folder_lock.hpp"

namespace renga::train {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw FileError(text("run: ", path, ": cannot make the folder: ", error.message()));
  }
}

// Found out now, not at the first checkpoint.
void require_writable(const std::string& path) {
  make_folder(path + "/samples");
  AtomicFile(path + "/config.json");
}

/// How much of `bytes` could be appended, and why not all (0 when all).
std::pair<std::size_t, int> append(const std::string& path, const std::string& bytes) {
  // Opened each time: on a network file system an old descriptor may be stale for good.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return {0, errno};
  }
  std::size_t done = 0;
  int error = 0;
  while (done < bytes.size() && error == 0) {
    const ssize_t written = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (::close(descriptor) != 0 && error == 0 && errno != EINTR) {
    error = errno;
  }
  return {done, error};
}

// False for half a line, too.
bool is_line_until(std::int64_t step, const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  const auto found = json.is_object() ? json.find("step") : json.end();
  return found != json.end() && found->is_number_integer() && found->get<std::int64_t>() <= step;
}

// A run that was killed may have left a line without its end.
bool ends_within_a_line(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() == 0) {
    return false;
  }
  in.seekg(-1, std::ios::end);
  return in.get() != '\n';
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

std::string RunFolder::default_path(const std::string& model) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d-%H%M%S", &parts);
  const std::string name = text("runs/", model, "-", date);
  std::string path = name;
  for (int i = 2; exists(path); ++i) {
    path = text(name, "-", i);
  }
  return path;
}

RunFolder RunFolder::create(const std::string& path) {
  make_folder(path);
  std::error_code error;
  const bool is_empty = fs::is_empty(path, error);
  if (error) {
    throw FileError(text("run: ", path, ": cannot read the folder: ", error.message()));
  }
  if (!is_empty) {
    throw FileError(
        text("run: ", path, ": expected a new or empty folder, it holds something already; choose another"));
  }
  RunFolder folder(path);
  require_writable(path);
  return folder;
}

RunFolder RunFolder::open(const std::string& path) {
  if (!exists(path + "/config.json")) {
    throw FileError(text("run: ", path, ": not the folder of a run, it has no config.json"));
  }
  RunFolder folder(path);
  require_writable(path);
  if (ends_within_a_line(folder.log_path())) {
    folder.pending_ = "\n";
  }
  return folder;
}

RunFolder::RunFolder(const std::string& path) : path_(path), lock_(std::make_unique<FolderLock>(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::move(other.lock_)),
      pending_(std::exchange(other.pending_, {})),
      is_failing_(std::exchange(other.is_failing_, false)) {}

RunFolder::~RunFolder() {
  if (pending_.empty()) {
    return;
  }
  flush();
  if (!pending_.empty()) {
    log::error(text("run: ", log_path(), ": ", std::ranges::count(pending_, '\n'),
                    " lines could not be written and are lost"));
  }
}

std::string RunFolder::sample_path(std::int64_t step) const {
  return path_ + "/samples/" + CheckpointFolder::step_name(step) + ".png";
}

void RunFolder::write_config(const Fields& config) const {
  AtomicFile file(config_path());
  file.write(json_text(config));
  file.commit();
}

void RunFolder::log(const Fields& fields) {
  pending_ += json_line(fields) + "\n";
  flush();
}

void RunFolder::cut_log(std::int64_t step) {
  if (!exists(log_path())) {
    return;
  }
  std::ifstream in(log_path(), std::ios::binary);
  AtomicFile file(log_path());
  for (std::string line; std::getline(in, line);) {
    if (is_line_until(step, line)) {
      file.write(line + "\n");
    }
  }
  if (!in.eof() || in.bad()) {
    throw FileError(text("run: ", log_path(), ": cannot be read"));
  }
  file.commit();
  pending_.clear();
}

void RunFolder::flush() {
  const auto [done, error] = append(log_path(), pending_);
  pending_.erase(0, done);  // a line cut in the middle goes on where it was cut
  if (error == 0 && is_failing_) {
    log::info(text("run: ", log_path(), ": can be written again"));
  } else if (error != 0 && !is_failing_) {
    log::warning(text("run: ", log_path(), ": cannot write: ", std::generic_category().message(error),
                      "; training goes on, lines are kept in memory until it works"));
  }
  is_failing_ = error != 0;
}

void RunFolder::write_sample(std::int64_t step, const at::Tensor& image) const {
  try {
    write_png(sample_path(step), image);
  } catch (const FileError& error) {
    log::warning(text(error.what(), "; training goes on without this image"));
  }
}

}  // namespace renga::train
