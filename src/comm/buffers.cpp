// SPDX-License-Identifier: Apache-2.0
#include "buffers.hpp"

#include <ATen/EmptyTensor.h>

namespace renga::detail {
namespace {

template <typename Function>
std::vector<at::Tensor> map(const std::vector<at::Tensor>& tensors, Function function) {
  std::vector<at::Tensor> out;
  out.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    out.push_back(function(tensor));
  }
  return out;
}

}  // namespace

at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype) {
  return at::Tensor(at::detail::empty_cpu(sizes, dtype));
}

bool is_plain(const at::Tensor& tensor) { return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg(); }

at::Tensor packed(const at::Tensor& tensor) { return is_plain(tensor) ? tensor : packed_copy(tensor); }

std::vector<at::Tensor> packed(const std::vector<at::Tensor>& tensors) {
  return map(tensors, [](const at::Tensor& tensor) { return packed(tensor); });
}

at::Tensor packed_copy(const at::Tensor& tensor) {
  at::Tensor copy = empty(tensor.sizes(), tensor.scalar_type());
  copy.copy_(tensor);
  return copy;
}

at::Tensor landing(const at::Tensor& tensor) {
  return is_plain(tensor) ? tensor : empty(tensor.sizes(), tensor.scalar_type());
}

std::vector<at::Tensor> landing(const std::vector<at::Tensor>& tensors) {
  return map(tensors, [](const at::Tensor& tensor) { return landing(tensor); });
}

void put(const at::Tensor& target, const at::Tensor& arrived) {
  if (!arrived.is_same(target)) {
    target.copy_(arrived);
  }
  if (!target.is_inference()) {
    target.unsafeGetTensorImpl()->bump_version();
  }
}

void put(const std::vector<at::Tensor>& targets, const std::vector<at::Tensor>& arrived) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    put(targets[i], arrived[i]);
  }
}

bool share_memory(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0) {
    return false;
  }
  const auto* const a_begin = static_cast<const char*>(a.data_ptr());
  const auto* const b_begin = static_cast<const char*>(b.data_ptr());
  return a_begin < b_begin + b.nbytes() && b_begin < a_begin + a.nbytes();
}

}  // namespace renga::detail
