// SPDX-License-Identifier: Apache-2.0
#include "mpi_types.hpp"

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {

MPI_Datatype transfer_type(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return MPI_UINT8_T;
    case 2:
      return MPI_UINT16_T;
    case 4:
      return MPI_UINT32_T;
    case 8:
      return MPI_UINT64_T;
    case 16:
      return MPI_C_DOUBLE_COMPLEX;
    default:
      throw NotAvailable(text("mpi: no type for elements of ", tensor.element_size(), " bytes"));
  }
}

MPI_Datatype reduce_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kByte:
      return MPI_UINT8_T;
    case at::kChar:
      return MPI_INT8_T;
    case at::kShort:
      return MPI_INT16_T;
    case at::kInt:
      return MPI_INT32_T;
    case at::kLong:
      return MPI_INT64_T;
    case at::kComplexFloat:
      return MPI_C_FLOAT_COMPLEX;
    case at::kComplexDouble:
      return MPI_C_DOUBLE_COMPLEX;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op reduce_operator(ReduceOp op) {
  switch (op) {
    case ReduceOp::Sum:
      return MPI_SUM;
    case ReduceOp::Min:
      return MPI_MIN;
    case ReduceOp::Max:
      return MPI_MAX;
    case ReduceOp::Prod:
      return MPI_PROD;
    case ReduceOp::Avg:
      break;
  }
  return MPI_OP_NULL;
}

}  // namespace renga::detail
