// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "reduction.hpp"
#include "rules.hpp"

// Sums and means, Partial along the axes that split a reduced dim; and what looks along an unsplit dim.
namespace renga {

Reduction make_reduction(const at::Tensor& self, std::vector<std::int64_t> dims, KeepDim keep) {
  Reduction reduction;
  reduction.dims = std::move(dims);
  if (reduction.dims.empty()) {
    for (std::int64_t d = 0; d < self.dim(); ++d) {
      reduction.dims.push_back(d);
    }
  }
  std::vector<bool> reduced(at_index(self.dim()), false);
  for (auto& dim : reduction.dims) {
    dim = self.dim() == 0 ? 0 : at::maybe_wrap_dim(dim, self.dim());
    if (self.dim() > 0) {
      reduced[at_index(dim)] = true;
      reduction.axes |= spec_of(self)->axes_of(dim);
      reduction.count *= self.size(dim);
    }
  }
  std::vector<std::int64_t> to(at_index(self.dim()), -1);
  std::vector<std::int64_t> sizes;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (!reduced[at_index(d)]) {
      to[at_index(d)] = static_cast<std::int64_t>(sizes.size());
      sizes.push_back(self.size(d));
    } else if (keep == KeepDim::Yes) {
      sizes.push_back(1);
    }
  }
  reduction.spec = mapped_spec(*spec_of(self), to, std::move(sizes));
  return reduction;
}

at::Tensor gather_blocks(const at::Tensor& block, const DeviceMesh& mesh, AxisSet axes) {
  const Communicator group = mesh.over(axes);
  auto sizes = block.sizes().vec();
  sizes.insert(sizes.begin(), group.size());
  const at::Tensor blocks = at::empty(sizes, block.options());
  std::vector<at::Tensor> outputs;
  for (int r = 0; r < group.size(); ++r) {
    outputs.push_back(blocks.select(0, r));
  }
  group.all_gather_into(outputs, block);
  return blocks;
}

std::vector<std::int64_t> optional_ints(const c10::IValue& value) {
  return value.isNone()  ? std::vector<std::int64_t>{}
         : value.isInt() ? std::vector<std::int64_t>{value.toInt()}
                         : value.toIntVector();
}

KeepDim keep_dim(const c10::IValue& value) { return value.toBool() ? KeepDim::Yes : KeepDim::No; }

namespace {

std::optional<at::ScalarType> dtype_of(const c10::IValue& value) {
  return value.isNone() ? std::nullopt : std::optional(value.toScalarType());
}

at::Tensor local_sum(const at::Tensor& self, const Reduction& reduction, KeepDim keep,
                     std::optional<at::ScalarType> dtype) {
  const at::Tensor& local = local_tensor(self);
  return dtype ? at::sum(local, reduction.dims, keep == KeepDim::Yes, *dtype)
               : at::sum(local, reduction.dims, keep == KeepDim::Yes);
}

// Adding up summands commutes with the sum, but not with a rounding to another kind of number.
AxisSet kept_partial(const at::Tensor& self, std::optional<at::ScalarType> dtype) {
  const AxisSet partial = partial_axes(self);
  if (partial != 0 && ((dtype && *dtype != self.scalar_type()) || self.scalar_type() == at::kBool)) {
    resolve(self);
    return 0;
  }
  return partial;
}

struct SumArguments {
  std::vector<std::int64_t> dims;
  KeepDim keep = KeepDim::No;
  std::optional<at::ScalarType> dtype;
};

// sum(self, dtype) and sum.dim(self, dims, keepdim, dtype); mean alike.
SumArguments sum_arguments(const Call& call) {
  if (call.size() == 2) {
    return {{}, KeepDim::No, dtype_of(call[1])};
  }
  return {optional_ints(call[1]), keep_dim(call[2]), dtype_of(call[3])};
}

bool sum(Call& call) {
  const at::Tensor self = call.tensor(0);
  const SumArguments arguments = sum_arguments(call);
  if (is_replicated(self)) {
    return false;
  }
  const AxisSet partial = kept_partial(self, arguments.dtype);
  const Reduction reduction = make_reduction(self, arguments.dims, arguments.keep);
  const at::Tensor value = local_sum(self, reduction, arguments.keep, arguments.dtype);
  call.give_all(wrap(value, reduction.spec, {}, partial | reduction.axes));
  return true;
}

bool mean(Call& call) {
  const at::Tensor self = call.tensor(0);
  const SumArguments arguments = sum_arguments(call);
  const auto dtype = arguments.dtype.value_or(self.scalar_type());
  if (is_replicated(self) || !(at::isFloatingType(dtype) || at::isComplexType(dtype))) {
    return false;  // LibTorch's kernel, or its error
  }
  const AxisSet partial = kept_partial(self, arguments.dtype);
  const Reduction reduction = make_reduction(self, arguments.dims, arguments.keep);
  const at::Tensor value = local_sum(self, reduction, arguments.keep, arguments.dtype);
  call.give_all(wrap(value.div_(static_cast<double>(reduction.count)), reduction.spec, {}, partial | reduction.axes));
  return true;
}

// max, argmax, sort, cumsum … along a dim that is not split: every block by itself.
template <std::size_t DimArgument, std::size_t KeepArgument>
bool along_unsplit(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_split(self) || self.dim() == 0 || call[DimArgument].isNone()) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[DimArgument].toInt(), self.dim());
  if (spec_of(self)->is_split(dim)) {
    return false;
  }
  resolve(self);
  const Reduction reduction = make_reduction(self, {dim}, keep_dim(call[KeepArgument]));
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = local_tensor(self);
  torch::jit::Stack results = call.run(std::move(arguments));
  for (auto& result : results) {
    result = wrap(result.toTensor(), reduction.spec);
  }
  call.give(std::move(results));
  return true;
}

}  // namespace

Rules reduce_rules() {
  return {
      {"aten::sum", &sum},
      {"aten::sum.dim_IntList", &sum},
      {"aten::mean", &mean},
      {"aten::mean.dim", &mean},
      {"aten::max.dim", &along_unsplit<1, 2>},
      {"aten::min.dim", &along_unsplit<1, 2>},
      {"aten::argmax", &along_unsplit<1, 2>},
      {"aten::argmin", &along_unsplit<1, 2>},
  };
}

}  // namespace renga
