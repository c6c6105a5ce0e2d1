// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "renga/checkpoint/safetensors.hpp"
#include "renga/comm/communicator.hpp"

#include "named.hpp"

namespace renga::detail {

/// What all `save` functions come down to. Rank 0 of `writers` writes; without it, rank 0 of the tensors' mesh, and
/// without a mesh the calling process.
void save_list(const std::string& path, NamedList tensors, const Metadata& metadata,
               const std::optional<Communicator>& writers);

}  // namespace renga::detail
