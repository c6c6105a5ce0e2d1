// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <ATen/Functions.h>

#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "reduction.hpp"
#include "rules.hpp"

// Extrema, products, any and all. Each rank reduces its block; the results, which are small, are gathered
// and reduced by the same operator, in rank order and with LibTorch's treatment of NaN.
namespace renga {
namespace {

enum class Kind { Largest, Smallest, Product, Any, All };

Kind kind_of(const std::string& base) {
  return base == "amax" || base == "max"   ? Kind::Largest
         : base == "amin" || base == "min" ? Kind::Smallest
         : base == "prod"                  ? Kind::Product
         : base == "any"                   ? Kind::Any
                                           : Kind::All;
}

// A value that does not change the result.
double neutral(Kind kind) {
  switch (kind) {
    case Kind::Largest:
      return -std::numeric_limits<double>::infinity();
    case Kind::Smallest:
      return std::numeric_limits<double>::infinity();
    case Kind::Product:
    case Kind::All:
      return 1;
    case Kind::Any:
      break;
  }
  return 0;
}

at::Tensor combine(Kind kind, const at::Tensor& blocks) {
  switch (kind) {
    case Kind::Largest:
      return at::amax(blocks, 0);
    case Kind::Smallest:
      return at::amin(blocks, 0);
    case Kind::Product:
      return at::prod(blocks, 0, false, blocks.scalar_type());
    case Kind::Any:
      return at::any(blocks, 0);
    case Kind::All:
      break;
  }
  return at::all(blocks, 0);
}

bool may_have_empty_block(const at::Tensor& self, const Reduction& reduction) {
  return std::any_of(reduction.dims.begin(), reduction.dims.end(), [&](std::int64_t d) {
    const Cuts& cut = spec_of(self)->cuts[at_index(d)];
    return std::adjacent_find(cut.begin(), cut.end()) != cut.end();
  });
}

// A block that is empty in a reduced dim is stood in for by one neutral element.
at::Tensor filled_block(const at::Tensor& local, const Reduction& reduction, Kind kind) {
  auto sizes = local.sizes().vec();
  bool empty = false;
  for (const auto dim : reduction.dims) {
    empty = empty || sizes[at_index(dim)] == 0;
    sizes[at_index(dim)] = std::max<std::int64_t>(sizes[at_index(dim)], 1);
  }
  return empty ? at::empty(sizes, local.options()).fill_(neutral(kind)) : local;
}

bool reduce_blocks(Call& call, const std::vector<std::int64_t>& dims, KeepDim keep) {
  const at::Tensor self = call.tensor(0);
  if (!is_split(self) || self.dim() == 0 || self.numel() == 0) {
    return false;
  }
  const Reduction reduction = make_reduction(self, dims, keep);
  const Kind kind = kind_of(call.info().base);
  const bool integers = !self.is_floating_point() && (kind == Kind::Largest || kind == Kind::Smallest);
  if (integers && may_have_empty_block(self, reduction)) {
    return false;  // integers have no infinity
  }
  resolve(self);
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = filled_block(local_tensor(self), reduction, kind);
  at::Tensor value = call.run(std::move(arguments)).front().toTensor();
  if (reduction.axes != 0) {
    value = combine(kind, gather_blocks(value, spec_of(self)->mesh, reduction.axes));
  }
  call.give_all(wrap(value, reduction.spec));
  return true;
}

bool over_all(Call& call) { return reduce_blocks(call, {}, KeepDim::No); }

bool over_dims(Call& call) { return reduce_blocks(call, optional_ints(call[1]), keep_dim(call[2])); }

}  // namespace

Rules extremum_rules() {
  return {
      {"aten::prod", &over_all},          {"aten::max", &over_all},      {"aten::min", &over_all},
      {"aten::any", &over_all},           {"aten::all", &over_all},      {"aten::amax", &over_dims},
      {"aten::amin", &over_dims},         {"aten::any.dim", &over_dims}, {"aten::all.dim", &over_dims},
      {"aten::prod.dim_int", &over_dims},
  };
}

}  // namespace renga
