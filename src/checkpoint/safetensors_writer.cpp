// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <utility>

#include <ATen/ATen.h>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "safetensors_header.hpp"

namespace renga {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

struct SafetensorsWriter::State {
  AtomicFile file;
  detail::Header header;
  std::size_t next = 0;
};

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::vector<TensorInfo> tensors,
                                     const Metadata& metadata) {
  detail::Header header = detail::lay_out(std::move(tensors), metadata);
  const std::string json_text = detail::write_header(header);
  if (json_text.size() > detail::kLongestHeader) {
    throw InvalidArgument(text("safetensors: a header of ", json_text.size(), " bytes is too long"));
  }
  const std::uint64_t length = json_text.size();
  state_.reset(new State{AtomicFile(path), std::move(header)});
  state_->file.write(&length, detail::kLengthBytes);
  state_->file.write(json_text);
}

SafetensorsWriter::~SafetensorsWriter() = default;

void SafetensorsWriter::add(const at::Tensor& tensor) {
  const auto& entries = state_->header.entries;
  if (state_->next == entries.size()) {
    throw InvalidArgument(
        text("safetensors: ", state_->file.path(), " has only ", entries.size(), " tensors, one more was given"));
  }
  const TensorInfo& info = entries[state_->next].info;
  if (tensor.scalar_type() != info.dtype || tensor.sizes() != at::IntArrayRef(info.sizes)) {
    throw InvalidArgument(text("safetensors: \"", info.name, "\": expected ", c10::toString(info.dtype), " ",
                               sizes_text(info.sizes), ", got ", c10::toString(tensor.scalar_type()), " ",
                               sizes_text(tensor.sizes())));
  }
  // Conjugation and negation may be pending in a tensor's flags: the bytes must have them done.
  const at::Tensor bytes = tensor.detach().to(at::kCPU).resolve_conj().resolve_neg().contiguous();
  state_->file.write(bytes.data_ptr(), bytes.nbytes());
  ++state_->next;
}

void SafetensorsWriter::commit() {
  if (state_->next != state_->header.entries.size()) {
    throw InvalidArgument(text("safetensors: ", state_->file.path(), ": expected ", state_->header.entries.size(),
                               " tensors, got ", state_->next));
  }
  state_->file.commit();
}

}  // namespace renga
