// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/scope.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

// The dispatcher calls `catch_factory` with nothing of ours, so the innermost mesh is kept per thread.
const DeviceMesh*& current_mesh() {
  thread_local const DeviceMesh* mesh = nullptr;
  return mesh;
}

bool has_tensor(const torch::jit::Stack& stack, std::size_t count) {
  bool found = false;
  for (std::size_t i = stack.size() - count; i < stack.size(); ++i) {
    for_each_tensor(stack[i], [&found](const at::Tensor&) { found = true; });
  }
  return found;
}

// Every operator called inside a Scope comes by here; those without tensor arguments are factories.
void catch_factory(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard below(c10::DispatchKey::DeferredInit);
  const bool is_factory = !has_tensor(*stack, op.schema().arguments().size());
  const std::size_t first = stack->size() - op.schema().arguments().size();
  op.callBoxed(stack);
  if (!is_factory || current_mesh() == nullptr) {
    return;
  }
  for (std::size_t i = first; i < stack->size(); ++i) {
    (*stack)[i] = map_tensors((*stack)[i], [](const at::Tensor& made) {
      if (is_dtensor(made)) {
        return made;
      }
      const auto spec = replicated_spec(*current_mesh(), made.sizes().vec());
      return wrap(made.detach(), spec).set_requires_grad(made.requires_grad());
    });
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(_, DeferredInit, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&catch_factory>());
}

struct Scope::Guard {
  explicit Guard(DeviceMesh mesh_of_scope) : mesh(std::move(mesh_of_scope)), outer(current_mesh()) {
    current_mesh() = &mesh;
  }
  ~Guard() { current_mesh() = outer; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  DeviceMesh mesh;
  const DeviceMesh* outer;
  c10::impl::IncludeDispatchKeyGuard include{c10::DispatchKey::DeferredInit};
};

Scope::Scope(const DeviceMesh& mesh) : guard_(std::make_unique<Guard>(mesh)) {}

Scope::~Scope() = default;

}  // namespace renga
