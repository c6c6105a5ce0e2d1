// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/backend.hpp"

#include "shm_group.hpp"

namespace renga::detail {

// The collectives as steps; arguments as for `Backend`. Tensors that lie in shared memory already are reduced where they
// lie, which moves 2n bytes a rank; all else goes through the ranks' slots, a piece at a time.

std::unique_ptr<ShmSteps> all_reduce_steps(at::Tensor buffer, ReduceOp op);
std::unique_ptr<ShmSteps> reduce_scatter_steps(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op);
std::unique_ptr<ShmSteps> all_gather_steps(std::vector<at::Tensor> outputs, at::Tensor input);
std::unique_ptr<ShmSteps> all_to_all_steps(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs);
std::unique_ptr<ShmSteps> broadcast_steps(at::Tensor buffer, int root);
std::unique_ptr<ShmSteps> barrier_steps();

}  // namespace renga::detail
