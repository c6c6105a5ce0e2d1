// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/geometry.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/InferSize.h>
#include <ATen/TensorUtils.h>

namespace renga {

Strides row_major_strides(at::IntArrayRef sizes) {
  Strides strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

Strides ordered_strides(at::IntArrayRef sizes, at::IntArrayRef order) {
  if (std::is_sorted(order.begin(), order.end(), std::greater<>())) {
    return row_major_strides(sizes);
  }
  std::vector<std::size_t> dims(sizes.size());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::stable_sort(dims.begin(), dims.end(), [&](std::size_t a, std::size_t b) { return order[a] > order[b]; });
  Strides strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t k = dims.size(); k-- > 0;) {
    strides[dims[k]] = step;
    step *= std::max<std::int64_t>(sizes[dims[k]], 1);
  }
  return strides;
}

bool has_order(const at::Tensor& tensor, at::IntArrayRef order) {
  if (tensor.numel() == 0) {
    return true;
  }
  const Strides expected = ordered_strides(tensor.sizes(), order);
  for (std::size_t d = 0; d < expected.size(); ++d) {
    if (tensor.sizes()[d] != 1 && tensor.strides()[d] != expected[d]) {
      return false;
    }
  }
  return true;
}

ViewStrides view_strides(at::IntArrayRef old_sizes, at::IntArrayRef old_strides, at::IntArrayRef sizes) {
  auto strides = at::detail::computeStride(old_sizes, old_strides, sizes);
  if (!strides.has_value()) {
    return {};
  }
  return {std::move(*strides), true};
}

std::vector<std::int64_t> infer_sizes(at::IntArrayRef sizes, std::int64_t numel) {
  const auto inferred = at::infer_size_dv(sizes, numel);
  return {inferred.begin(), inferred.end()};
}

}  // namespace renga
