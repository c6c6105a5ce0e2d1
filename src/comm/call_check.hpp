// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "group.hpp"

namespace renga::detail {

/// "float32 [3, 4]"
std::string describe(const at::Tensor& tensor);

/// "float32 [3] [4]"; of no tensors, "nothing".
std::string describe(const std::vector<at::Tensor>& tensors);

/// "float32 3 4 elements": where shapes may differ and only sizes must agree.
std::string describe_counts(const std::vector<at::Tensor>& tensors);

/// Exchanges one fixed-size record: the call's name, its number, and `detail`, all that must agree.
/// @throws Mismatch on every rank if a rank's differs from rank 0's; the message names both
void compare_calls(Group& group, const Call& call, const std::string& detail);

/// With `Settings::check`: compares what each rank will send to each other with what that one expects.
/// @throws Mismatch on every rank
void compare_sizes(Group& group, const Call& call, const std::vector<at::Tensor>& outputs,
                   const std::vector<at::Tensor>& inputs);

/// The same fixed-size bytes of every rank, one row a rank.
at::Tensor gather_rows(Group& group, const Call& call, const at::Tensor& row);

}  // namespace renga::detail
