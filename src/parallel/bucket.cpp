// SPDX-License-Identifier: Apache-2.0
#include "bucket.hpp"

#include <algorithm>

#include <ATen/Functions.h>

#include "renga/tensor/rule.hpp"

namespace renga {
namespace {

// The slot's elements under the gradient's own strides, so that copying is one straight run.
at::Tensor slot_view(const at::Tensor& buffer, const Bucket::Slot& slot, const at::Tensor& gradient) {
  const at::Tensor flat = buffer.narrow(0, slot.offset, slot.elements);
  return gradient.is_non_overlapping_and_dense()
             ? flat.as_strided(gradient.sizes(), gradient.strides(), flat.storage_offset())
             : flat.view(gradient.sizes());
}

}  // namespace

// A reduction under way, shared by the gradients in it. Gradients that were dropped meanwhile are skipped.
struct Bucket::Reduction : Pending {
  at::Tensor buffer;
  std::vector<Slot> slots;
  Buffer kind = Buffer::Own;
  Request request;

  void finish() override {
    const LocalGuard guard;
    const auto waiting = std::move(slots);
    slots.clear();
    request.wait();
    for (const auto& slot : waiting) {
      const auto memory = slot.gradient.lock();
      if (memory && memory->pending.get() == this) {
        if (kind == Buffer::Own) {
          memory->root.copy_(slot_view(buffer, slot, memory->root));
        }
        memory->partial = 0;
        memory->pending.reset();
      }
    }
    if (kind == Buffer::Gradient) {
      buffer = at::Tensor();  // a gradient that is dropped frees its memory
    }
  }
};

void Bucket::add(std::size_t parameter, std::int64_t elements) {
  slots_.push_back({parameter, elements_, elements, false, {}});
  elements_ += elements;
}

std::int64_t Bucket::bytes() const { return elements_ * static_cast<std::int64_t>(c10::elementSize(dtype_)); }

bool Bucket::fits(const Memory& gradient, const Slot& slot) const {
  return gradient.partial == axes_ && gradient.root.scalar_type() == dtype_ && gradient.root.numel() == slot.elements &&
         (kind_ == Buffer::Own || gradient.root.is_non_overlapping_and_dense());
}

void Bucket::put(Slot& slot, const std::shared_ptr<Memory>& gradient) {
  if (!any_ready()) {
    if (reduction_) {
      reduction_->finish();  // its gradients may have been dropped, but its buffer is this one
      reduction_.reset();
    }
    if (kind_ == Buffer::Gradient) {
      buffer_ = gradient->root.as_strided({slot.elements}, {1}, gradient->root.storage_offset());
    } else if (!buffer_.defined()) {
      buffer_ = mesh_.over(axes_).allocate(elements_, dtype_);
    }
  }
  if (kind_ == Buffer::Own) {
    slot_view(buffer_, slot, gradient->root).copy_(gradient->root);
  }
  slot.ready = true;
  slot.gradient = gradient;
}

bool Bucket::any_ready() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.ready; });
}

void Bucket::launch() {
  reduction_ = std::make_shared<Reduction>();
  reduction_->buffer = buffer_;
  reduction_->kind = kind_;
  for (auto& slot : slots_) {
    if (slot.ready) {
      reduction_->slots.push_back(slot);
      if (const auto memory = slot.gradient.lock()) {
        memory->pending = reduction_;
      }
    } else {
      buffer_.narrow(0, slot.offset, slot.elements).zero_();
    }
    slot.ready = false;
  }
  reduction_->request = mesh_.over(axes_).all_reduce_async(buffer_);
  if (kind_ == Buffer::Gradient) {
    buffer_ = at::Tensor();  // the reduction holds it as long as it is needed
  }
}

}  // namespace renga
