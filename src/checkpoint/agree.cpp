// SPDX-License-Identifier: Apache-2.0
#include "agree.hpp"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/state.hpp"

namespace renga::detail {

std::string error_of(const std::function<void()>& step) {
  try {
    step();
    return "";
  } catch (const FileError& error) {
    return error.what();
  }
}

void agree(const std::optional<DeviceMesh>& mesh, const std::string& error) {
  const auto errors = mesh ? mesh->world().all_gather_text(error) : std::vector{error};
  const auto first = std::ranges::find_if(errors, [](const auto& text) { return !text.empty(); });
  if (first == errors.end()) {
    return;
  }
  const bool is_common = std::ranges::count(errors, *first) == std::ssize(errors);
  throw FileError(is_common ? *first : text("on rank ", first - errors.begin(), ": ", *first));
}

void copy_into(const at::Tensor& tensor, const at::Tensor& value) {
  resolve(tensor);  // a sum not yet added up would be added to the new value later
  if (value.defined() && is_dtensor(tensor)) {
    write_piece(tensor, value);
  } else if (value.defined()) {
    tensor.copy_(value);
  }
  written(tensor);
}

}  // namespace renga::detail
