// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "renga/mesh/device_mesh.hpp"
#include "renga/ops/ops.hpp"
#include "renga/parallel/gradient_reducer.hpp"
#include "renga/tensor/scope.hpp"

namespace renga {

/// Throws `Mismatch` on every rank unless names, shapes and dtypes of all parameters and buffers, and the
/// state of the random generator, are the same on all ranks. Collective over the mesh.
void require_same_module(const DeviceMesh& mesh, const torch::nn::Module& module);

/// Makes the memory order of weights of four dims channels_last, on which convolution is fastest. Values
/// and shapes stay. No communication.
void order_weights(torch::nn::Module& module);

namespace detail {

// Keeps a module together with what serves it, behind the module's own pointer.
template <typename Module>
std::shared_ptr<Module> with_reducer(const DeviceMesh& mesh, std::shared_ptr<Module> module) {
  struct Owner {
    explicit Owner(std::shared_ptr<Module> owned) : module(std::move(owned)), reducer(module->parameters()) {}
    std::shared_ptr<Module> module;
    GradientReducer reducer;
  };
  require_same_module(mesh, *module);
  order_weights(*module);
  auto owner = std::make_shared<Owner>(std::move(module));
  return std::shared_ptr<Module>(owner, owner->module.get());
}

template <typename T>
concept ModuleHolder = requires(T holder) {
  typename T::ContainedType;
  holder.ptr();
};

}  // namespace detail

/// Builds a stock module as a distributed one: every parameter and buffer that `factory` makes is born
/// on the mesh, replicated, bit for bit as one process with the same seed would draw it. Gradients are
/// added up while backward runs (see `GradientReducer`) for as long as the returned pointer, or a copy of
/// it, lives. Collective: every rank calls it with the same factory, or all get a `Mismatch`.
///
///     auto net = renga::distribute(mesh, [] { return std::make_shared<Net>(); });
///
/// @param factory returns a `std::shared_ptr` to a module, or a module holder such as `torch::nn::Linear`
/// @return what the factory returns
template <typename Factory>
auto distribute(const DeviceMesh& mesh, Factory factory) {
  auto module = [&] {
    const Scope scope(mesh);
    return factory();
  }();
  using Made = decltype(module);
  if constexpr (detail::ModuleHolder<Made>) {
    return Made(detail::with_reducer(mesh, module.ptr()));
  } else {
    return detail::with_reducer(mesh, std::move(module));
  }
}

}  // namespace renga
