// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/communicator.hpp"
#include "renga/tensor/state.hpp"

namespace renga {

/// Gradients that are reduced together: of one dtype, summed over the same axes, in one buffer. A gradient
/// that is large by itself has a bucket of its own, and is reduced where it lies.
class Bucket {
 public:
  enum class Buffer { Own, Gradient };
  struct Slot {
    std::size_t parameter = 0;
    std::int64_t offset = 0;
    std::int64_t elements = 0;
    bool ready = false;
    std::weak_ptr<Memory> gradient;
  };

  Bucket(DeviceMesh mesh, AxisSet axes, at::ScalarType dtype, Buffer kind)
      : mesh_(std::move(mesh)), axes_(axes), dtype_(dtype), kind_(kind) {}

  void add(std::size_t parameter, std::int64_t elements);
  std::int64_t bytes() const;
  std::vector<Slot>& slots() { return slots_; }
  bool fits(const Memory& gradient, const Slot& slot) const;

  Buffer kind() const { return kind_; }

  /// Copies a gradient into its slot, or takes its memory for the buffer.
  void put(Slot& slot, const std::shared_ptr<Memory>& gradient);
  bool any_ready() const;

  /// Starts the reduction of what is ready; those gradients are pending from now on.
  void launch();

 private:
  struct Reduction;

  DeviceMesh mesh_;
  AxisSet axes_;
  at::ScalarType dtype_;
  Buffer kind_;
  std::int64_t elements_ = 0;
  at::Tensor buffer_;
  std::vector<Slot> slots_;
  std::shared_ptr<Reduction> reduction_;
};

}  // namespace renga
