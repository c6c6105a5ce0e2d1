// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "safetensors_header.hpp"

namespace renga {
namespace {

/// A file opened for reading; every error names it.
class InputFile {
 public:
  explicit InputFile(std::string path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) {
      fail(text("cannot open the file: ", std::generic_category().message(errno)));
    }
  }
  ~InputFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }

  [[noreturn]] void fail(const std::string& what) const { throw FileError(text("read: ", path_, ": ", what)); }

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      fail("not an ordinary file");
    }
    return static_cast<std::uint64_t>(status.st_size);
  }

  void read(void* data, std::uint64_t size, std::uint64_t offset) const {
    auto* next = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t got = ::pread(descriptor_, next, size, static_cast<off_t>(offset));
      if (got > 0) {
        next += got;
        offset += static_cast<std::uint64_t>(got);
        size -= static_cast<std::uint64_t>(got);
      } else if (got == 0) {
        fail(text("the file ends at byte ", offset, "; it was cut while it was open"));
      } else if (errno != EINTR) {
        fail(text("cannot read: ", std::generic_category().message(errno)));
      }
    }
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

std::string read_header_text(const InputFile& file) {
  const std::uint64_t file_size = file.size();
  std::uint64_t length = 0;
  if (file_size < detail::kLengthBytes) {
    file.fail(text("a file of ", file_size, " bytes has no header; it is truncated"));
  }
  file.read(&length, detail::kLengthBytes, 0);
  if (length > detail::kLongestHeader || length > file_size - detail::kLengthBytes) {
    file.fail(text("a header of ", length, " bytes does not fit a file of ", file_size,
                   "; it is truncated or not a safetensors file"));
  }
  std::string json_text(length, ' ');
  file.read(json_text.data(), length, detail::kLengthBytes);
  return json_text;
}

}  // namespace

struct SafetensorsReader::State {
  explicit State(const std::string& path) : file(path) {}

  const detail::Entry& find(const std::string& name) const {
    const auto found = index.find(name);
    if (found == index.end()) {
      throw InvalidArgument(text("read: ", file.path(), ": no tensor \"", name, "\""));
    }
    return entries[found->second];
  }

  InputFile file;
  std::uint64_t data_begin = 0;
  std::vector<detail::Entry> entries;
  std::vector<TensorInfo> infos;
  Metadata metadata;
  std::map<std::string, std::size_t> index;
};

SafetensorsReader::SafetensorsReader(const std::string& path) : state_(std::make_unique<State>(path)) {
  const std::string json_text = read_header_text(state_->file);
  state_->data_begin = detail::kLengthBytes + json_text.size();
  detail::Header header;
  try {
    header = detail::read_header(json_text, state_->file.size() - state_->data_begin);
  } catch (const FileError& error) {
    state_->file.fail(error.what());
  }
  for (const detail::Entry& entry : header.entries) {
    state_->index[entry.info.name] = state_->infos.size();
    state_->infos.push_back(entry.info);
  }
  state_->entries = std::move(header.entries);
  state_->metadata = std::move(header.metadata);
}

SafetensorsReader::~SafetensorsReader() = default;

const std::vector<TensorInfo>& SafetensorsReader::tensors() const { return state_->infos; }

const Metadata& SafetensorsReader::metadata() const { return state_->metadata; }

bool SafetensorsReader::contains(const std::string& name) const { return state_->index.contains(name); }

const TensorInfo& SafetensorsReader::info(const std::string& name) const { return state_->find(name).info; }

at::Tensor SafetensorsReader::read(const std::string& name) const {
  const detail::Entry& entry = state_->find(name);
  at::Tensor tensor = at::empty(entry.info.sizes, at::TensorOptions().dtype(entry.info.dtype));
  state_->file.read(tensor.data_ptr(), entry.end - entry.begin, state_->data_begin + entry.begin);
  return tensor;
}

}  // namespace renga
