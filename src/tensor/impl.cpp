// SPDX-License-Identifier: Apache-2.0
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/geometry.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

// Autocast acts on our tensors as it does on the local ones.
c10::DispatchKeySet keys() {
  return c10::DispatchKeySet(c10::DispatchKey::PrivateUse1).add(c10::DispatchKey::AutocastCPU);
}

}  // namespace

DistributedImpl::DistributedImpl(std::shared_ptr<State> state, at::IntArrayRef strides, std::int64_t offset)
    : TensorImpl(keys(), state->local.dtype(), state->local.device()), state_(std::move(state)) {
  set_storage_access_should_throw();
  set_geometry(state_->spec->sizes, strides, offset);
}

void DistributedImpl::set_geometry(at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t offset) {
  set_sizes_and_strides(sizes, strides);
  set_storage_offset(offset);
}

c10::intrusive_ptr<c10::TensorImpl> DistributedImpl::copy(bool allow_change) const {
  auto copied = c10::make_intrusive<DistributedImpl>(state_, strides(), storage_offset());
  copied->set_allow_tensor_metadata_change(allow_change);
  return copied;
}

c10::intrusive_ptr<c10::TensorImpl> DistributedImpl::shallow_copy_and_detach(const c10::VariableVersion& version,
                                                                             bool allow_change) const {
  auto copied = copy(allow_change);
  copied->set_version_counter(version);
  return copied;
}

c10::intrusive_ptr<c10::TensorImpl> DistributedImpl::shallow_copy_and_detach(c10::VariableVersion&& version,
                                                                             bool allow_change) const {
  auto copied = copy(allow_change);
  copied->set_version_counter(std::move(version));
  return copied;
}

void DistributedImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& other) {
  const auto* source = static_cast<DistributedImpl*>(other.get());
  state_ = source->state_;
  data_type_ = source->dtype();
  set_geometry(source->sizes(), source->strides(), source->storage_offset());
}

bool is_dtensor(const at::Tensor& tensor) {
  return tensor.defined() && tensor.unsafeGetTensorImpl()->key_set().has(c10::DispatchKey::PrivateUse1);
}

DistributedImpl& impl(const at::Tensor& tensor) { return *static_cast<DistributedImpl*>(tensor.unsafeGetTensorImpl()); }

namespace {

at::Tensor make(std::shared_ptr<State> state, at::IntArrayRef strides, std::int64_t offset) {
  return at::detail::make_tensor<DistributedImpl>(std::move(state), strides, offset);
}

void check_piece(const at::Tensor& local, const Spec& spec) {
  const auto expected = spec.local_sizes();
  if (local.sizes() != at::IntArrayRef(expected)) {
    throw Error(text("piece of ", spec.text(), ": expected local sizes ", sizes_text(expected), ", got ",
                     sizes_text(local.sizes())));
  }
}

}  // namespace

at::Tensor wrap(const at::Tensor& local, const SpecPtr& spec, at::IntArrayRef order, AxisSet partial) {
  if (local.layout() != at::kStrided) {
    throw NotAvailable("distributed tensor: sparse values are not supported");
  }
  check_piece(local, *spec);
  auto state = std::make_shared<State>(State{local, spec, std::make_shared<Memory>()});
  Strides strides;
  std::int64_t offset = 0;
  if (!spec->is_split() && partial == 0) {
    strides = local.strides().vec();
    offset = local.storage_offset();
  } else {
    const bool follow = order.size() == spec->sizes.size();
    strides = follow ? ordered_strides(spec->sizes, order) : row_major_strides(spec->sizes);
    if (!has_order(local, strides)) {
      state->local = at::empty_strided(local.sizes(), ordered_strides(local.sizes(), strides), local.options());
      state->local.copy_(local);
    }
  }
  state->memory->root = state->local;
  state->memory->partial = partial;
  return make(std::move(state), strides, offset);
}

at::Tensor wrap_view(const at::Tensor& base, const at::Tensor& local, const SpecPtr& spec, at::IntArrayRef strides,
                     std::int64_t offset) {
  check_piece(local, *spec);
  return make(std::make_shared<State>(State{local, spec, state(base).memory}), strides, offset);
}

at::Tensor wrap_state(const at::Tensor& tensor) {
  return make(impl(tensor).state(), tensor.strides(), tensor.storage_offset());
}

}  // namespace renga
