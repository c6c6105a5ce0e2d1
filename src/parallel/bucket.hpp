// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/communicator.hpp"
#include "renga/tensor/state.hpp"

namespace renga {

/// Gradients that are reduced together: of one dtype, summed over the same axes, in one buffer.
class Bucket {
 public:
  struct Slot {
    std::size_t parameter = 0;
    std::int64_t offset = 0;
    std::int64_t elements = 0;
    bool ready = false;
    std::weak_ptr<Memory> gradient;
  };

  Bucket(DeviceMesh mesh, AxisSet axes, at::ScalarType dtype) : mesh_(std::move(mesh)), axes_(axes), dtype_(dtype) {}

  void add(std::size_t parameter, std::int64_t elements);
  std::int64_t bytes() const;
  std::vector<Slot>& slots() { return slots_; }
  bool fits(const Memory& gradient, const Slot& slot) const;

  /// Copies a gradient into its slot.
  void put(Slot& slot, const std::shared_ptr<Memory>& gradient);
  bool any_ready() const;

  /// Starts the reduction of what is ready; those gradients are pending from now on.
  void launch();

 private:
  struct Reduction;

  DeviceMesh mesh_;
  AxisSet axes_;
  at::ScalarType dtype_;
  std::int64_t elements_ = 0;
  at::Tensor buffer_;
  std::vector<Slot> slots_;
  std::shared_ptr<Reduction> reduction_;
};

}  // namespace renga
