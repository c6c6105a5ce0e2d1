// SPDX-License-Identifier: Apache-2.0
// Collectives whose sizes every rank knows.
#include "renga/comm/communicator.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "arguments.hpp"
#include "buffers.hpp"
#include "call_check.hpp"
#include "dtype.hpp"
#include "group.hpp"
#include "plain_tensors.hpp"
#include "reduction.hpp"

namespace renga {
namespace {

using detail::Call;
using detail::Group;

void check_elements(const char* operation, const char* output, const at::Tensor& to, const at::Tensor& from) {
  detail::check_same_dtype(operation, output, to, from);
  if (to.numel() != from.numel()) {
    throw InvalidArgument(text(operation, ": ", output, ": expected ", from.numel(),
                               " elements as in this rank's input, got ", to.numel(), " in ", sizes_text(to.sizes())));
  }
}

// What a rank sends while others' data comes in must not lie where that is written.
at::Tensor apart(const at::Tensor& input, const std::vector<at::Tensor>& outputs, int own) {
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (static_cast<int>(r) != own && detail::share_memory(input, outputs[r])) {
      return detail::packed_copy(input);
    }
  }
  return input;
}

// A group of one: the elements in logical order, whatever the shape.
void copy_elements(const at::Tensor& to, const at::Tensor& from) { detail::put(to, from.reshape(to.sizes())); }

}  // namespace

void Communicator::all_reduce(const at::Tensor& tensor, ReduceOp op) const { all_reduce_async(tensor, op).wait(); }

Request Communicator::all_reduce_async(const at::Tensor& tensor, ReduceOp op) const {
  const detail::PlainTensors guard;
  detail::check_output("all_reduce", "tensor", tensor);
  detail::check_reducible("all_reduce", tensor.scalar_type(), op);
  if (group_->size == 1) {
    return {};
  }
  Backend& backend = *group_->backend;
  const auto reduction = detail::plan_reduction("all_reduce", backend, tensor.scalar_type(), op);
  const Call call = detail::begin_collective(*group_, "all_reduce",
                                             [&] { return text(detail::describe(tensor), ' ', reduce_op_name(op)); });
  const at::Tensor buffer = detail::to_wire(tensor, reduction);
  return Request(detail::start(
      group_, call, [&] { return backend.all_reduce(buffer, reduction.op); },
      [=] { detail::from_wire(tensor, buffer, reduction); }));
}

at::Tensor Communicator::reduce_scatter(const std::vector<at::Tensor>& inputs, ReduceOp op) const {
  const detail::PlainTensors guard;
  detail::check_inputs("reduce_scatter", inputs, group_->size);
  const at::ScalarType dtype = inputs.front().scalar_type();
  detail::check_reducible("reduce_scatter", dtype, op);
  if (group_->size == 1) {
    return detail::packed_copy(inputs.front());
  }
  Backend& backend = *group_->backend;
  const auto reduction = detail::plan_reduction("reduce_scatter", backend, dtype, op);
  const Call call = detail::begin_collective(*group_, "reduce_scatter",
                                             [&] { return text(detail::describe(inputs), ' ', reduce_op_name(op)); });
  std::vector<at::Tensor> sent;
  for (const at::Tensor& input : inputs) {
    sent.push_back(detail::to_wire(input, reduction));
  }
  const auto sizes = inputs[static_cast<std::size_t>(group_->rank)].sizes();
  const at::Tensor arrived = detail::empty(sizes, reduction.wire);
  detail::complete(*group_, call,
                   detail::launch(*group_, call, [&] { return backend.reduce_scatter(arrived, sent, reduction.op); }));
  at::Tensor output = reduction.wire == dtype ? arrived : detail::empty(sizes, dtype);
  detail::from_wire(output, arrived, reduction);
  return output;
}

void Communicator::all_gather_into(const std::vector<at::Tensor>& outputs, const at::Tensor& input) const {
  all_gather_into_async(outputs, input).wait();
}

Request Communicator::all_gather_into_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input) const {
  const detail::PlainTensors guard;
  detail::check_input("all_gather_into", "input", input);
  detail::check_outputs("all_gather_into", outputs, group_->size);
  check_elements("all_gather_into", "outputs[rank]", outputs[static_cast<std::size_t>(group_->rank)], input);
  if (group_->size == 1) {
    copy_elements(outputs.front(), input);
    return {};
  }
  const Call call =
      detail::begin_collective(*group_, "all_gather_into", [&] { return detail::describe_counts(outputs); });
  const std::vector<at::Tensor> arrived = detail::landing(outputs);
  const at::Tensor sent = apart(detail::packed(input), arrived, group_->rank);
  return Request(detail::start(
      group_, call, [&] { return group_->backend->all_gather(arrived, sent); },
      [=] { detail::put(outputs, arrived); }));
}

void Communicator::all_to_all_into(const std::vector<at::Tensor>& outputs,
                                   const std::vector<at::Tensor>& inputs) const {
  all_to_all_into_async(outputs, inputs).wait();
}

Request Communicator::all_to_all_into_async(const std::vector<at::Tensor>& outputs,
                                            const std::vector<at::Tensor>& inputs) const {
  const detail::PlainTensors guard;
  detail::check_inputs("all_to_all_into", inputs, group_->size);
  detail::check_outputs("all_to_all_into", outputs, group_->size);
  const auto own = static_cast<std::size_t>(group_->rank);
  check_elements("all_to_all_into", "outputs[rank]", outputs[own], inputs[own]);
  if (group_->size == 1) {
    copy_elements(outputs.front(), inputs.front());
    return {};
  }
  const Call call = detail::begin_collective(
      *group_, "all_to_all_into", [&] { return std::string(detail::dtype_name(inputs.front().scalar_type())); });
  if (group_->settings.check) {
    detail::compare_sizes(*group_, call, outputs, inputs);
  }
  const std::vector<at::Tensor> arrived = detail::landing(outputs);
  std::vector<at::Tensor> sent = detail::packed(inputs);
  for (std::size_t r = 0; r < sent.size(); ++r) {
    sent[r] = apart(sent[r], arrived, r == own ? group_->rank : -1);
  }
  return Request(detail::start(
      group_, call, [&] { return group_->backend->all_to_all(arrived, sent); },
      [=] { detail::put(outputs, arrived); }));
}

void Communicator::broadcast(const at::Tensor& tensor, int root) const { broadcast_async(tensor, root).wait(); }

Request Communicator::broadcast_async(const at::Tensor& tensor, int root) const {
  const detail::PlainTensors guard;
  // Root only reads its tensor, so it may overlap itself there; the others write theirs.
  if (group_->rank == root) {
    detail::check_input("broadcast", "tensor", tensor);
  } else {
    detail::check_output("broadcast", "tensor", tensor);
  }
  detail::check_root("broadcast", root, group_->size);
  if (group_->size == 1) {
    return {};
  }
  const Call call =
      detail::begin_collective(*group_, "broadcast", [&] { return text(detail::describe(tensor), " root ", root); });
  if (group_->rank == root) {
    return Request(detail::start(
        group_, call, [&] { return group_->backend->broadcast(detail::packed(tensor), root); }, [] {}));
  }
  const at::Tensor buffer = detail::landing(tensor);
  return Request(detail::start(
      group_, call, [&] { return group_->backend->broadcast(buffer, root); }, [=] { detail::put(tensor, buffer); }));
}

void Communicator::barrier() const {
  if (group_->size == 1) {
    return;
  }
  const detail::PlainTensors guard;
  const Call call = detail::begin_collective(*group_, "barrier", [] { return std::string(); });
  detail::complete(*group_, call, detail::launch(*group_, call, [&] { return group_->backend->barrier(); }));
}

}  // namespace renga
