// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga::detail {

/// Each throws `InvalidArgument` "operation: argument: expected …, got …".

/// A tensor that is read: defined, dense, on the CPU.
void check_input(const char* operation, const std::string& argument, const at::Tensor& tensor);

/// A tensor that is written: as above, and no two elements share memory.
void check_output(const char* operation, const std::string& argument, const at::Tensor& tensor);

/// One tensor a rank, all of one dtype.
void check_inputs(const char* operation, const std::vector<at::Tensor>& inputs, int size);
void check_outputs(const char* operation, const std::vector<at::Tensor>& outputs, int size);

void check_same_dtype(const char* operation, const std::string& argument, const at::Tensor& tensor,
                      const at::Tensor& reference);

/// Root is a rank of the group.
void check_root(const char* operation, int root, int size);

/// The peer is another rank of the group, and the tag one that every MPI takes.
void check_peer(const char* operation, int peer, int tag, int rank, int size);

}  // namespace renga::detail
