// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "renga/mesh/device_mesh.hpp"

namespace renga {

/// While it lives, LibTorch's factories (`torch::zeros`, `randn`, `empty`, …) called in this thread make
/// replicated distributed tensors on `mesh`; so a stock module constructed meanwhile is born
/// distributed, with the values a single process draws. Scopes nest; the innermost counts.
///
///     { renga::Scope scope(mesh); net = std::make_shared<Net>(); }
///
/// Raw memory stays out of reach while a module is constructed: `data_ptr`, `accessor` and
/// `torch::tensor(std::vector)` throw ("doesn't have storage"), `torch::from_blob` stays plain.
class Scope {
 public:
  explicit Scope(const DeviceMesh& mesh);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  struct Guard;
  std::unique_ptr<Guard> guard_;
};

}  // namespace renga
