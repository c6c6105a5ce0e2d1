// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace renga::detail {

/// While it lives, tensor operations of this thread are plain kernels: autograd records nothing, and
/// factories inside a `Scope` (which listens on DeferredInit) make ordinary tensors, not distributed.
class PlainTensors {
 private:
  at::AutoDispatchBelowAutograd below_autograd_;
  c10::impl::ExcludeDispatchKeyGuard no_factories_{c10::DispatchKey::DeferredInit};
};

}  // namespace renga::detail
