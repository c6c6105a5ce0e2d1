// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <algorithm>
#include <numeric>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "dtype.hpp"

namespace renga::detail {
namespace {

constexpr int kMaxTag = 32767;  // the smallest upper bound the MPI standard allows

template <typename Expected, typename Got>
[[noreturn]] void reject(const char* operation, const std::string& argument, const Expected& expected, const Got& got) {
  throw InvalidArgument(text(operation, ": ", argument, ": expected ", expected, ", got ", got));
}

// Ascending strides, each larger than all that the smaller ones can reach: then every element has its
// own place. What torch's operators make passes; exotic `as_strided` views may be turned away.
bool overlaps_itself(const at::Tensor& tensor) {
  if (tensor.numel() < 2 || tensor.is_contiguous()) {
    return false;
  }
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t reach = 0;
  for (const std::size_t dim : order) {
    if (sizes[dim] == 1) {
      continue;
    }
    if (strides[dim] <= reach) {
      return true;
    }
    reach += (sizes[dim] - 1) * strides[dim];
  }
  return false;
}

void check_count(const char* operation, const char* argument, const std::vector<at::Tensor>& tensors, int size) {
  if (tensors.size() != static_cast<std::size_t>(size)) {
    reject(operation, argument, text(size, " tensors, one a rank"), tensors.size());
  }
}

}  // namespace

void check_input(const char* operation, const std::string& argument, const at::Tensor& tensor) {
  if (!tensor.defined()) {
    reject(operation, argument, "a tensor", "an undefined one");
  }
  if (!tensor.device().is_cpu()) {
    reject(operation, argument, "a CPU tensor", tensor.device());
  }
  if (tensor.layout() != at::kStrided || !tensor.has_storage() || tensor.is_quantized()) {
    reject(operation, argument, "a dense tensor with memory of its own",
           text("one with layout ", tensor.layout(), " and key ", tensor.key_set()));
  }
}

void check_output(const char* operation, const std::string& argument, const at::Tensor& tensor) {
  check_input(operation, argument, tensor);
  if (overlaps_itself(tensor)) {
    reject(operation, argument, "a tensor whose elements have memory of their own",
           text("sizes ", sizes_text(tensor.sizes()), " with strides ", sizes_text(tensor.strides())));
  }
}

void check_inputs(const char* operation, const std::vector<at::Tensor>& inputs, int size) {
  check_count(operation, "inputs", inputs, size);
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    check_input(operation, "inputs", inputs[r]);
    check_same_dtype(operation, "inputs", inputs[r], inputs.front());
  }
}

void check_outputs(const char* operation, const std::vector<at::Tensor>& outputs, int size) {
  check_count(operation, "outputs", outputs, size);
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    check_output(operation, "outputs", outputs[r]);
    check_same_dtype(operation, "outputs", outputs[r], outputs.front());
  }
}

void check_same_dtype(const char* operation, const std::string& argument, const at::Tensor& tensor,
                      const at::Tensor& reference) {
  if (tensor.scalar_type() != reference.scalar_type()) {
    reject(operation, argument, dtype_name(reference.scalar_type()), dtype_name(tensor.scalar_type()));
  }
}

void check_root(const char* operation, int root, int size) {
  if (root < 0 || root >= size) {
    reject(operation, "root", text("a rank below ", size), root);
  }
}

void check_peer(const char* operation, int peer, int tag, int rank, int size) {
  if (peer < 0 || peer >= size || peer == rank) {
    reject(operation, "peer", text("a rank below ", size, " other than ", rank), peer);
  }
  if (tag < 0 || tag > kMaxTag) {
    reject(operation, "tag", text("0 to ", kMaxTag), tag);
  }
}

}  // namespace renga::detail
