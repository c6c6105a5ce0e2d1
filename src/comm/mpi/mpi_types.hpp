// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <mpi.h>

#include "renga/comm/backend.hpp"

namespace renga::detail {

/// A type of so many bytes, for data that is only moved: counts are of elements, not bytes.
MPI_Datatype transfer_type(const at::Tensor& tensor);

/// The type MPI computes with, or MPI_DATATYPE_NULL if it has none for this dtype.
MPI_Datatype reduce_type(at::ScalarType dtype);

/// MPI_OP_NULL for Avg, which MPI does not have.
MPI_Op reduce_operator(ReduceOp op);

}  // namespace renga::detail
