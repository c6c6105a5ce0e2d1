// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/mesh/device_mesh.hpp"

namespace torch::nn {
class Module;
}

namespace renga::detail {

/// Handles of tensors in an order that is the same on every rank.
using NamedList = std::vector<std::pair<std::string, at::Tensor>>;

/// Parameters, then buffers, under their dotted names; undefined ones are left out.
NamedList named_tensors(const torch::nn::Module& module);

/// The mesh of the distributed ones among them.
/// @throws InvalidArgument if they lie on several; `what` begins the message
std::optional<DeviceMesh> common_mesh(const char* what, const NamedList& tensors);

}  // namespace renga::detail
