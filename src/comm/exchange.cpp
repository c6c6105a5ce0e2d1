// SPDX-License-Identifier: Apache-2.0
// Collectives that exchange shapes first.
#include "exchange.hpp"

#include <algorithm>

#include "renga/comm/communicator.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "arguments.hpp"
#include "buffers.hpp"
#include "call_check.hpp"
#include "dtype.hpp"
#include "plain_tensors.hpp"

namespace renga {
namespace detail {

at::Tensor shape_row(const char* operation, const at::Tensor& tensor) {
  if (tensor.dim() > kShapeRow - 2) {
    throw InvalidArgument(text(operation, ": tensor: expected at most ", kShapeRow - 2, " dims, got ", tensor.dim()));
  }
  at::Tensor row = empty({kShapeRow}, at::kLong);
  auto* const numbers = row.data_ptr<std::int64_t>();
  std::fill_n(numbers, kShapeRow, 0);
  numbers[0] = static_cast<std::int64_t>(tensor.scalar_type());
  numbers[1] = tensor.dim();
  std::copy(tensor.sizes().begin(), tensor.sizes().end(), numbers + 2);
  return row;
}

at::Tensor tensor_of_row(const at::Tensor& row) {
  const auto* const numbers = row.data_ptr<std::int64_t>();
  return empty(at::IntArrayRef(numbers + 2, static_cast<std::size_t>(numbers[1])),
               static_cast<at::ScalarType>(numbers[0]));
}

void require_same_dtype(const Call& call, const std::vector<at::Tensor>& rows) {
  const auto dtype = [](const at::Tensor& row) { return static_cast<at::ScalarType>(row.data_ptr<std::int64_t>()[0]); };
  for (std::size_t rank = 1; rank < rows.size(); ++rank) {
    if (dtype(rows[rank]) != dtype(rows.front())) {
      throw Mismatch(text(call.text(), ": rank 0 has ", dtype_name(dtype(rows.front())), ", rank ", rank, " has ",
                          dtype_name(dtype(rows[rank]))));
    }
  }
}

}  // namespace detail

namespace {

using detail::Call;
using detail::Group;

void run(Group& group, const Call& call, const std::function<std::unique_ptr<Work>()>& operation) {
  detail::complete(group, call, detail::launch(group, call, operation));
}

std::vector<at::Tensor> empty_rows(int count) {
  std::vector<at::Tensor> rows;
  for (int r = 0; r < count; ++r) {
    rows.push_back(detail::empty({detail::kShapeRow}, at::kLong));
  }
  return rows;
}

std::vector<at::Tensor> tensors_of_rows(const std::vector<at::Tensor>& rows) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& row : rows) {
    tensors.push_back(detail::tensor_of_row(row));
  }
  return tensors;
}

std::vector<at::Tensor> gather_shapes(Group& group, const Call& call, const at::Tensor& tensor) {
  const at::Tensor own = detail::shape_row(call.name, tensor);
  std::vector<at::Tensor> rows = empty_rows(group.size);
  run(group, call, [&] { return group.backend->all_gather(rows, own); });
  detail::require_same_dtype(call, rows);
  return rows;
}

}  // namespace

std::vector<at::Tensor> Communicator::all_gather(const at::Tensor& tensor) const {
  const detail::PlainTensors guard;
  detail::check_input("all_gather", "tensor", tensor);
  if (group_->size == 1) {
    return {detail::packed_copy(tensor)};
  }
  const Call call = detail::begin_collective(*group_, "all_gather",
                                             [&] { return std::string(detail::dtype_name(tensor.scalar_type())); });
  const auto outputs = tensors_of_rows(gather_shapes(*group_, call, tensor));
  run(*group_, call, [&] { return group_->backend->all_gather(outputs, detail::packed(tensor)); });
  return outputs;
}

std::vector<at::Tensor> Communicator::all_to_all(const std::vector<at::Tensor>& inputs) const {
  const detail::PlainTensors guard;
  detail::check_inputs("all_to_all", inputs, group_->size);
  if (group_->size == 1) {
    return {detail::packed_copy(inputs.front())};
  }
  const Call call = detail::begin_collective(
      *group_, "all_to_all", [&] { return std::string(detail::dtype_name(inputs.front().scalar_type())); });
  std::vector<at::Tensor> sent_rows;
  for (const at::Tensor& input : inputs) {
    sent_rows.push_back(detail::shape_row(call.name, input));
  }
  const std::vector<at::Tensor> rows = empty_rows(group_->size);
  run(*group_, call, [&] { return group_->backend->all_to_all(rows, sent_rows); });
  detail::require_same_dtype(call, rows);
  const auto outputs = tensors_of_rows(rows);
  run(*group_, call, [&] { return group_->backend->all_to_all(outputs, detail::packed(inputs)); });
  return outputs;
}

std::vector<at::Tensor> Communicator::gather(const at::Tensor& tensor, int root) const {
  const detail::PlainTensors guard;
  detail::check_input("gather", "tensor", tensor);
  detail::check_root("gather", root, group_->size);
  if (group_->size == 1) {
    return {detail::packed_copy(tensor)};
  }
  const Call call = detail::begin_collective(
      *group_, "gather", [&] { return text(detail::dtype_name(tensor.scalar_type()), " root ", root); });
  // All ranks learn the shapes, so that a wrong dtype is an error on all of them.
  const std::vector<at::Tensor> rows = gather_shapes(*group_, call, tensor);
  const auto outputs = group_->rank == root ? tensors_of_rows(rows) : std::vector<at::Tensor>();
  run(*group_, call, [&] { return group_->backend->gather(outputs, detail::packed(tensor), root); });
  return outputs;
}

at::Tensor Communicator::scatter(const std::vector<at::Tensor>& inputs, int root) const {
  const detail::PlainTensors guard;
  detail::check_root("scatter", root, group_->size);
  std::vector<at::Tensor> sent;
  std::vector<at::Tensor> sent_rows;
  if (group_->rank == root) {
    detail::check_inputs("scatter", inputs, group_->size);
    sent = detail::packed(inputs);
    for (const at::Tensor& input : inputs) {
      sent_rows.push_back(detail::shape_row("scatter", input));
    }
  }
  if (group_->size == 1) {
    return detail::packed_copy(inputs.front());
  }
  const Call call = detail::begin_collective(*group_, "scatter", [&] { return text("root ", root); });
  const at::Tensor row = detail::empty({detail::kShapeRow}, at::kLong);
  run(*group_, call, [&] { return group_->backend->scatter(row, sent_rows, root); });
  at::Tensor output = detail::tensor_of_row(row);
  run(*group_, call, [&] { return group_->backend->scatter(output, sent, root); });
  return output;
}

}  // namespace renga
