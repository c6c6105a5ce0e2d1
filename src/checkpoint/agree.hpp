// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "renga/mesh/device_mesh.hpp"

namespace renga::detail {

/// The message of the FileError that `step` throws, "" when it throws none.
std::string error_of(const std::function<void()>& step);

/// A file may be damaged or absent on one host only: throws a FileError on all ranks if any has an error, the first
/// one's. Collective over the mesh, if there is one.
void agree(const std::optional<DeviceMesh>& mesh, const std::string& error);

/// Writes a whole value into a plain or distributed tensor of its sizes. Collective over the tensor's mesh; an
/// undefined value (it could not be read) goes through the same communication and leaves the tensor.
void copy_into(const at::Tensor& tensor, const at::Tensor& value);

}  // namespace renga::detail
