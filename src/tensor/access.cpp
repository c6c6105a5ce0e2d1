// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>

#include "renga/core/error.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

void refresh(Memory& memory) {
  Source& source = *memory.source;
  const at::Tensor base = whole(source.base);  // settles the base first, it may be a copy itself
  const std::uint64_t now = state(source.base).memory->epoch;
  if (source.seen != now) {
    const at::Tensor value = source.replay(base);
    memory.root.copy_(source.spec ? piece(value, source.spec) : value);
    source.seen = now;
    ++memory.epoch;
  }
}

// Whether the base was written since; no communication, so that all ranks decide alike and cheaply.
bool is_stale(const Memory& memory) {
  const Memory& base = *state(memory.source->base).memory;
  return memory.source->seen != base.epoch || (base.source && is_stale(base));
}

}  // namespace

void settle(Memory& memory) {
  if (memory.pending) {
    const auto pending = memory.pending;
    pending->finish();
  }
  if (memory.source && is_stale(memory)) {
    refresh(memory);
  }
}

void resolve(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return;
  }
  State& here = state(tensor);
  settle(*here.memory);
  if (here.memory->partial != 0) {
    here.spec->mesh.over(here.memory->partial).all_reduce(here.memory->root);
    here.memory->partial = 0;
  }
}

bool covers_memory(const at::Tensor& tensor) {
  const at::Tensor& local = state(tensor).local;
  const at::Tensor& root = state(tensor).memory->root;
  return local.is_same(root) || (local.numel() == root.numel() && local.has_storage() && local.is_alias_of(root) &&
                                 local.is_non_overlapping_and_dense() && root.is_non_overlapping_and_dense());
}

AxisSet partial_axes(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return 0;
  }
  Memory& memory = *state(tensor).memory;
  settle(memory);
  return memory.partial;
}

const at::Tensor& local_tensor(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return tensor;
  }
  State& here = state(tensor);
  settle(*here.memory);
  return here.local;
}

void written(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return;
  }
  Memory& memory = *state(tensor).memory;
  ++memory.epoch;
  if (!memory.source) {
    return;
  }
  Source& source = *memory.source;
  if (source.is_reordered && c10::GradMode::is_enabled()) {
    throw NotAvailable(
        "view of a channels_last tensor that has other views, too: cannot be written where gradients are "
        "recorded; write to a copy, or take the views of x.contiguous()");
  }
  at::Tensor base = whole(source.base);
  if (state(source.base).spec->is_split()) {
    base = base.clone();  // a gathered value is ours already, but may alias the piece of a one-rank group
  }
  at::Tensor value = memory.root;
  if (source.spec && source.spec->is_split()) {
    value = move_piece(value, *source.spec, *replicated_spec(source.spec->mesh, source.spec->sizes));
  }
  if (source.write_back) {
    source.write_back(base, value);
  } else {
    source.replay(base).copy_(value);
  }
  write_piece(source.base, base);
  written(source.base);
  source.seen = state(source.base).memory->epoch;
}

void replace(const at::Tensor& tensor, const at::Tensor& local, const SpecPtr& spec, AxisSet partial) {
  State& here = state(tensor);
  const at::Tensor fresh = wrap(local, spec, {}, partial);
  const auto gradient = here.memory->gradient;
  here = state(fresh);
  here.memory->gradient = gradient;
  impl(tensor).set_geometry(fresh.sizes(), fresh.strides(), fresh.storage_offset());
}

}  // namespace renga
