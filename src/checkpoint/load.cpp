// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include <ATen/ATen.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "agree.hpp"
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

}  // namespace

void load(const std::string& path, torch::nn::Module& module) {
  const auto tensors = detail::named_tensors(module);
  const auto mesh = detail::common_mesh("load", tensors);
  std::optional<SafetensorsReader> reader;
  detail::agree(mesh, detail::error_of([&] {
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
    const std::string found = detail::error_of([&] { value = reader->read(name); });
    error = error.empty() ? found : error;
    detail::copy_into(tensor, value);
  }
  detail::agree(mesh, error);
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
