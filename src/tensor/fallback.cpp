// SPDX-License-Identifier: Apache-2.0
#include "fallback.hpp"

#include <ATen/Functions.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/geometry.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

struct Whole {
  at::Tensor tensor;  // distributed
  at::Tensor value;   // its whole, plain value that the operator saw
};

// Results of the operator, turned back into distributed tensors.
class Results {
 public:
  Results(const Call& call, torch::jit::Stack arguments) : call_(call), arguments_(std::move(arguments)) {}

  void add_input(Whole input) { inputs_.push_back(std::move(input)); }
  void add_written(Whole input) { written_.push_back(std::move(input)); }
  const DeviceMesh& mesh() const { return state(inputs_.front().tensor).spec->mesh; }

  void write_back() const {
    for (const auto& [tensor, value] : written_) {
      if (value.sizes() != tensor.sizes()) {  // resized by an out= kernel
        replace(tensor, value, replicated_spec(state(tensor).spec->mesh, value.sizes().vec()));
      } else {
        write_piece(tensor, value);
        if (!state(tensor).spec->is_split()) {  // squeeze_, transpose_ and the like change strides only
          state(tensor).local = value;
          impl(tensor).set_geometry(value.sizes(), value.strides(), value.storage_offset());
        }
      }
      written(tensor);
    }
  }

  at::Tensor wrap_result(const at::Tensor& value, std::size_t result, std::size_t item) const {
    if (is_dtensor(value)) {
      return value;
    }
    if (call_.info().returned[result] >= 0) {
      for (const auto& [tensor, written_value] : written_) {
        if (written_value.is_same(value)) {
          return tensor;
        }
      }
      return value;  // a plain tensor that was written
    }
    const Whole* base = alias_base(value);
    if (base != nullptr && !state(base->tensor).spec->is_split()) {
      const auto spec = replicated_spec(mesh(), value.sizes().vec());
      return wrap_view(base->tensor, value, spec, value.strides(), value.storage_offset());
    }
    if (base != nullptr && call_.info().viewed[result]) {
      return coherent_copy(*base, value, result, item);
    }
    return wrap(base == nullptr ? value : value.clone(), replicated_spec(mesh(), value.sizes().vec()));
  }

 private:
  const Whole* alias_base(const at::Tensor& value) const {
    if (!value.has_storage()) {
      return nullptr;
    }
    for (const auto& input : inputs_) {
      if (input.value.has_storage() && input.value.is_alias_of(value)) {
        return &input;
      }
    }
    return nullptr;
  }

  // A view across a split dim cannot alias: a copy that remembers how it is derived.
  at::Tensor coherent_copy(const Whole& base, const at::Tensor& value, std::size_t result, std::size_t item) const {
    const at::Tensor copy = wrap(value.clone(), replicated_spec(mesh(), value.sizes().vec()));
    Source source;
    source.base = wrap_state(base.tensor);
    source.seen = state(base.tensor).memory->epoch;
    const auto replay = [call = call_.handle(), arguments = arguments_, from = base.value, result,
                         item](const at::Tensor& whole_base) {
      torch::jit::Stack stack;
      for (const auto& argument : arguments) {
        stack.push_back(map_tensors(
            argument, [&](const at::Tensor& tensor) { return tensor.is_same(from) ? whole_base : tensor; }));
      }
      call.callBoxed(&stack);
      return stack[result].isTensor() ? stack[result].toTensor() : stack[result].toTensorVector()[item];
    };
    source.replay = replay;
    set_view_geometry(copy, base.tensor, replay);
    state(copy).memory->source = std::move(source);
    return copy;
  }

  // The geometry a true view of the base would have, by taking the view of a meta tensor.
  static void set_view_geometry(const at::Tensor& copy, const at::Tensor& base,
                                const std::function<at::Tensor(const at::Tensor&)>& replay) {
    const at::Tensor meta = at::empty_strided(base.sizes(), base.strides(), base.options().device(at::kMeta));
    const at::Tensor view = replay(meta);
    impl(copy).set_geometry(copy.sizes(), view.strides(), base.storage_offset() + view.storage_offset());
  }

  const Call& call_;
  torch::jit::Stack arguments_;
  std::vector<Whole> inputs_;
  std::vector<Whole> written_;
};

}  // namespace

bool needs_gather(const Call& call) {
  bool needed = false;
  for (std::size_t i = 0; i < call.size(); ++i) {
    for_each_tensor(call[i], [&needed](const at::Tensor& tensor) {
      needed = needed || (is_dtensor(tensor) && (state(tensor).spec->is_split() || partial_axes(tensor) != 0));
    });
  }
  return needed;
}

void compute_replicated(Call& call) {
  torch::jit::Stack arguments;
  std::vector<std::pair<Whole, bool>> seen;
  for (std::size_t i = 0; i < call.size(); ++i) {
    arguments.push_back(map_tensors(call[i], [&](const at::Tensor& tensor) {
      if (!is_dtensor(tensor)) {
        return tensor;
      }
      for (const auto& [input, is_written] : seen) {
        if (input.tensor.is_same(tensor)) {
          return input.value;  // the same tensor twice must stay one
        }
      }
      seen.emplace_back(Whole{tensor, whole(tensor)}, call.info().written[i]);
      return seen.back().first.value;
    }));
  }
  Results results(call, arguments);
  for (const auto& [input, is_written] : seen) {
    results.add_input(input);
    if (is_written) {
      results.add_written(input);
    }
  }
  torch::jit::Stack outputs = call.run(std::move(arguments));
  results.write_back();
  torch::jit::Stack wrapped;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    std::size_t item = 0;
    wrapped.push_back(
        map_tensors(outputs[r], [&](const at::Tensor& value) { return results.wrap_result(value, r, item++); }));
  }
  call.give(std::move(wrapped));
}

}  // namespace renga
