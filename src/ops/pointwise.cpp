// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "pointwise_list.hpp"
#include "rules.hpp"

// Operators that act on each element by itself: the result is split as its operands are.
namespace renga {
namespace {

struct Operands {
  std::vector<at::Tensor> tensors;
  std::vector<std::int64_t> sizes;  // of the result
  at::Tensor target;                // the operand that is written: self of an in-place form, or out
};

// Nothing when the rule does not apply to this form.
std::optional<Operands> read(const Call& call) {
  Operands operands;
  for (std::size_t i = 0; i < call.size(); ++i) {
    if (call[i].isTensorList() || call[i].isList()) {
      bool has_tensors = false;
      for_each_tensor(call[i], [&](const at::Tensor&) { has_tensors = true; });
      if (has_tensors) {
        return std::nullopt;
      }
      continue;
    }
    const at::Tensor tensor = call.tensor(i);
    if (!tensor.defined()) {
      continue;
    }
    if (call.info().written[i]) {
      if (operands.target.defined() || !is_dtensor(tensor)) {
        return std::nullopt;
      }
      operands.target = tensor;
      if (i != 0) {
        continue;  // out= does not take part in broadcasting
      }
    }
    operands.sizes = at::infer_size(operands.sizes, tensor.sizes());
    operands.tensors.push_back(tensor);
  }
  if (operands.target.defined() && operands.target.sizes() != at::IntArrayRef(operands.sizes)) {
    return std::nullopt;
  }
  return operands;
}

// Whether a * b, a + b … of summands is the summand of the result. Returns the axes along which the
// result is Partial, 0 when the operands have to be added up first.
AxisSet linear_partial(const Call& call, const Operands& operands, const SpecPtr& target) {
  AxisSet all = 0;
  bool same = true;
  int partial_count = 0;
  for (const auto& tensor : operands.tensors) {
    const AxisSet axes = partial_axes(tensor);
    same = same && (all == 0 || axes == 0 || axes == all);
    all |= axes;
    partial_count += axes != 0 ? 1 : 0;
    if (tensor.scalar_type() == at::kBool || (axes != 0 && !(*spec_of(tensor) == *target))) {
      return 0;
    }
  }
  if (all == 0 || !same) {
    return 0;
  }
  const auto count = static_cast<int>(operands.tensors.size());
  const bool first_is_partial = partial_axes(operands.tensors.front()) != 0;
  switch (linear_kind(call.info())) {
    case LinearKind::None:
      return 0;
    case LinearKind::Unary:
      return all;
    case LinearKind::Sum:
      return partial_count == count && count == 2 ? all : 0;
    case LinearKind::Product:
      return partial_count == 1 && (first_is_partial || !operands.target.defined()) ? all : 0;
    case LinearKind::Quotient:
      return partial_count == 1 && first_is_partial ? all : 0;
  }
  return 0;
}

// R += P without reducing P: a zero, or a gradient of which all but the first rank's copy is dropped,
// is as good a summand as P.
bool accept_partial(const Call& call, const Operands& operands) {
  const at::Tensor& self = operands.target;
  if (call.info().name != "aten::add_.Tensor" || operands.tensors.size() != 2 || partial_axes(self) != 0) {
    return false;
  }
  const at::Tensor& other = operands.tensors[1];
  const AxisSet partial = partial_axes(other);
  if (partial == 0 || !(*spec_of(self) == *spec_of(other)) || !covers_memory(self)) {
    return false;
  }
  Memory& memory = *state(self).memory;
  if (!memory.is_known_zero() && !memory.gradient) {
    return false;
  }
  if (!is_first(spec_of(self)->mesh, partial)) {
    memory.root.zero_();
  }
  memory.partial = partial;
  return true;
}

// A replicated tensor expanded from a smaller one, as the gradient of a sum is, is computed on the small
// one: otherwise every rank would fill the whole activation.
bool compute_compact(Call& call, const Operands& operands) {
  at::Tensor expanded;
  for (const auto& tensor : operands.tensors) {
    if (tensor.dim() > 0) {
      if (expanded.defined() || !is_replicated(tensor)) {
        return false;
      }
      expanded = tensor;
    }
  }
  if (!expanded.defined() || operands.target.defined() || expanded.numel() == 0) {
    return false;
  }
  at::Tensor small = local_tensor(expanded);
  for (std::int64_t d = 0; d < small.dim(); ++d) {
    small = small.stride(d) == 0 && small.size(d) > 1 ? small.narrow(d, 0, 1) : small;
  }
  if (small.numel() == expanded.numel()) {
    return false;
  }
  torch::jit::Stack arguments;
  for (std::size_t i = 0; i < call.size(); ++i) {
    arguments.push_back(map_tensors(
        call[i], [&](const at::Tensor& tensor) { return tensor.is_same(expanded) ? small : whole(tensor); }));
  }
  torch::jit::Stack results = call.run(std::move(arguments));
  for (auto& result : results) {
    result = map_tensors(
        result, [&](const at::Tensor& value) { return wrap(value.expand(expanded.sizes()), spec_of(expanded)); });
  }
  call.give(std::move(results));
  return true;
}

const at::Tensor* first_of_sizes(const Operands& operands) {
  for (const auto& tensor : operands.tensors) {
    if (is_dtensor(tensor) && tensor.sizes() == at::IntArrayRef(operands.sizes)) {
      return &tensor;
    }
  }
  return nullptr;
}

}  // namespace

bool pointwise(Call& call) {
  const auto operands = read(call);
  if (!operands || compute_compact(call, *operands)) {
    return operands.has_value();
  }
  const bool in_place = operands->target.defined();
  const SpecPtr target = in_place ? spec_of(operands->target) : broadcast_spec(operands->tensors, operands->sizes);
  const bool accepted = in_place && accept_partial(call, *operands);
  const AxisSet partial = accepted ? partial_axes(operands->target) : linear_partial(call, *operands, target);
  torch::jit::Stack arguments = call.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const at::Tensor tensor = call.tensor(i);
    if (tensor.defined() && (is_dtensor(tensor) || tensor.dim() > 0)) {
      const bool keep = partial != 0 && partial_axes(tensor) != 0;
      arguments[i] = keep ? local_tensor(tensor) : piece(tensor, operand_spec(target, tensor.sizes()));
    }
  }
  torch::jit::Stack results = call.run(std::move(arguments));
  if (in_place) {
    written(operands->target);
    call.give_all(operands->target);
    return true;
  }
  const at::Tensor* like = first_of_sizes(*operands);
  const at::IntArrayRef order = like == nullptr ? at::IntArrayRef() : like->strides();
  for (auto& result : results) {
    result = map_tensors(result, [&](const at::Tensor& value) { return wrap(value, target, order, partial); });
  }
  call.give(std::move(results));
  return true;
}

Rules pointwise_rules() {
  Rules rules;
  for (const auto& name : pointwise_names()) {
    rules.push_back({name, &pointwise});
  }
  return rules;
}

}  // namespace renga
