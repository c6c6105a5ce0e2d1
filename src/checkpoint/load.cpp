// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include <ATen/ATen.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/state.hpp"

#include "named.hpp"

namespace renga {
namespace {

constexpr std::size_t kNamesShown = 10;

// "; missing in the file: a, b and 7 more"; nothing for an empty list.
std::string list_text(const std::string& title, const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < std::min(items.size(), kNamesShown); ++i) {
    out += (i == 0 ? "; " + title + ": " : ", ") + items[i];
  }
  return items.size() > kNamesShown ? text(out, " and ", items.size() - kNamesShown, " more") : out;
}

// All differences at once: whoever loads a wrong file wants to see which file it was.
std::string differences(const SafetensorsReader& reader, const detail::NamedList& tensors) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> unlike;
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    names.insert(name);
    if (!reader.contains(name)) {
      missing.push_back(name);
      continue;
    }
    const TensorInfo& info = reader.info(name);
    if (tensor.sizes() != at::IntArrayRef(info.sizes)) {
      unlike.push_back(text(name, " (file ", sizes_text(info.sizes), ", module ", sizes_text(tensor.sizes()), ")"));
    } else if (!c10::canCast(info.dtype, tensor.scalar_type())) {
      unlike.push_back(
          text(name, " (file ", c10::toString(info.dtype), ", module ", c10::toString(tensor.scalar_type()), ")"));
    }
  }
  for (const TensorInfo& info : reader.tensors()) {
    if (!names.contains(info.name)) {
      unexpected.push_back(info.name);
    }
  }
  return list_text("missing in the file", missing) + list_text("not in the module", unexpected) +
         list_text("of another shape or kind", unlike);
}

// An undefined value (it could not be read) goes through the same communication and leaves the tensor.
void copy_into(const at::Tensor& tensor, const at::Tensor& value) {
  resolve(tensor);  // a sum not yet added up would be added to the new value later
  if (value.defined() && is_dtensor(tensor)) {
    write_piece(tensor, value);
  } else if (value.defined()) {
    tensor.copy_(value);
  }
  written(tensor);
}

std::string error_of(const std::function<void()>& step) {
  try {
    step();
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

// A file may be damaged or absent on one host only: all ranks then fail, with the first one's error.
void agree(const std::optional<DeviceMesh>& mesh, const std::string& error) {
  const auto errors = mesh ? mesh->world().all_gather_text(error) : std::vector{error};
  const auto first = std::ranges::find_if(errors, [](const auto& text) { return !text.empty(); });
  if (first == errors.end()) {
    return;
  }
  const bool is_common = std::ranges::count(errors, *first) == std::ssize(errors);
  throw FileError(is_common ? *first : text("on rank ", first - errors.begin(), ": ", *first));
}

}  // namespace

void load(const std::string& path, torch::nn::Module& module) {
  const auto tensors = detail::named_tensors(module);
  const auto mesh = detail::common_mesh("load", tensors);
  std::optional<SafetensorsReader> reader;
  agree(mesh, error_of([&] {
          reader.emplace(path);
          if (const std::string found = differences(*reader, tensors); !found.empty()) {
            throw FileError(text("read: ", path, ": does not fit the module", found));
          }
        }));
  const at::NoGradGuard no_grad;
  // Writing may communicate (a Partial value, a view that is a copy), so a rank that cannot read
  // takes part until all can fail together.
  std::string error;
  for (const auto& [name, tensor] : tensors) {
    at::Tensor value;
    const std::string found = error_of([&] { value = reader->read(name); });
    error = error.empty() ? found : error;
    copy_into(tensor, value);
  }
  agree(mesh, error);
}

NamedTensors load_tensors(const std::string& path) {
  const SafetensorsReader reader(path);
  NamedTensors tensors;
  for (const TensorInfo& info : reader.tensors()) {
    tensors[info.name] = reader.read(info.name);
  }
  return tensors;
}

}  // namespace renga
