// SPDX-License-Identifier: Apache-2.0
#include "named.hpp"

#include <torch/nn/module.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"

namespace renga::detail {

NamedList named_tensors(const torch::nn::Module& module) {
  NamedList list;
  for (const auto& item : module.named_parameters()) {
    list.emplace_back(item.key(), item.value());
  }
  for (const auto& item : module.named_buffers()) {
    list.emplace_back(item.key(), item.value());
  }
  std::erase_if(list, [](const auto& entry) { return !entry.second.defined(); });
  return list;
}

std::optional<DeviceMesh> common_mesh(const char* what, const NamedList& tensors) {
  std::optional<DeviceMesh> mesh;
  std::string first;
  for (const auto& [name, tensor] : tensors) {
    if (!is_dtensor(tensor)) {
      continue;
    }
    const DeviceMesh& here = spec(tensor)->mesh;
    if (mesh && !(*mesh == here)) {
      throw InvalidArgument(text(what, ": \"", first, "\" lies on the mesh ", mesh->text(), ", \"", name,
                                 "\" on another, ", here.text(), "; expected one mesh"));
    }
    if (!mesh) {
      mesh = here;
      first = name;
    }
  }
  return mesh;
}

}  // namespace renga::detail
