// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>

#include <ATen/ATen.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"

#include "named.hpp"
#include "safetensors_header.hpp"
#include "save_list.hpp"

namespace renga {
namespace {

// Larger elements first: then every tensor begins at a multiple of its element's size, and readers
// elsewhere can map the file into memory.
void sort_by_element_size(detail::NamedList& tensors) {
  std::ranges::stable_sort(tensors, std::ranges::greater(),
                           [](const auto& entry) { return c10::elementSize(entry.second.scalar_type()); });
}

// Checks what all ranks see alike, before any of them communicates.
std::vector<TensorInfo> describe_all(const detail::NamedList& tensors) {
  std::vector<TensorInfo> infos;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.layout() != at::kStrided || tensor.is_quantized()) {
      throw InvalidArgument(text("save: \"", name, "\" is sparse or quantized; expected a dense tensor"));
    }
    infos.push_back({name, tensor.scalar_type(), tensor.sizes().vec()});
  }
  detail::write_header(detail::lay_out(infos, {}));  // throws for names and dtypes it cannot hold
  return infos;
}

/// The writing rank's side. Errors are kept until all ranks can throw them together; the other ranks
/// go through the same steps with nothing to do.
class Sink {
 public:
  Sink(const std::string& path, std::vector<TensorInfo> infos, const Metadata& metadata,
       const Communicator& communicator)
      : path_(path), communicator_(communicator), is_writer_(communicator.rank() == 0) {
    attempt([&] { writer_.emplace(path, std::move(infos), metadata); });
    agree();
  }

  void add(const at::Tensor& tensor) {
    attempt([&] { writer_->add(tensor); });
  }

  void commit() {
    attempt([&] { writer_->commit(); });
    agree();
  }

 private:
  void attempt(const std::function<void()>& step) {
    if (!is_writer_ || !error_.empty()) {
      return;
    }
    try {
      step();
      return;
    } catch (const FileError& error) {
      error_ = error.what();
    } catch (const std::exception& error) {
      error_ = text("write: ", path_, ": ", error.what());
    }
    writer_.reset();  // removes the temporary file at once
  }

  void agree() const {
    const std::string error = communicator_.broadcast_text(error_, 0);
    if (!error.empty()) {
      throw FileError(error);
    }
  }

  std::string path_;
  Communicator communicator_;
  bool is_writer_;
  std::optional<SafetensorsWriter> writer_;
  std::string error_;
};

detail::NamedList list_of(const NamedTensors& tensors) { return {tensors.begin(), tensors.end()}; }

}  // namespace

void detail::save_list(const std::string& path, NamedList tensors, const Metadata& metadata,
                       const std::optional<Communicator>& writers) {
  const auto mesh = common_mesh("save", tensors);
  sort_by_element_size(tensors);
  const auto communicator = writers ? *writers : mesh ? mesh->world() : Communicator::self();
  Sink sink(path, describe_all(tensors), metadata, communicator);
  const at::NoGradGuard no_grad;
  for (const auto& entry : tensors) {
    sink.add(full(entry.second));  // a collective: also after an error, the others wait in it
  }
  sink.commit();
}

void save(const std::string& path, const torch::nn::Module& module) {
  detail::save_list(path, detail::named_tensors(module), {}, std::nullopt);
}

void save(const std::string& path, const torch::nn::Module& module, const Communicator& communicator) {
  detail::save_list(path, detail::named_tensors(module), {}, communicator);
}

void save_tensors(const std::string& path, const NamedTensors& tensors) {
  detail::save_list(path, list_of(tensors), {}, std::nullopt);
}

void save_tensors(const std::string& path, const NamedTensors& tensors, const Communicator& communicator) {
  detail::save_list(path, list_of(tensors), {}, communicator);
}

}  // namespace renga
