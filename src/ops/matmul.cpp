// SPDX-License-Identifier: Apache-2.0
#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "contraction.hpp"
#include "rules.hpp"

// Matrix products.
namespace renga {
namespace {

const std::vector<ContractedIndex> kMatrix = {{0, -1, 0}, {1, 0, -1}, {-1, 1, 1}};
const std::vector<ContractedIndex> kBatched = {{0, 0, 0}, {1, -1, 1}, {2, 1, -1}, {-1, 2, 2}};
const std::vector<ContractedIndex> kMatrixVector = {{0, -1, 0}, {1, 0, -1}};
const std::vector<ContractedIndex> kDot = {{0, 0, -1}};

// Sizes of the result; false when the operands do not fit (LibTorch then says so).
bool result_sizes(const at::Tensor& left, const at::Tensor& right, const std::vector<ContractedIndex>& indices,
                  std::vector<std::int64_t>& sizes) {
  for (const auto& index : indices) {
    const std::int64_t a = index.left < 0 ? -1 : index.left < left.dim() ? left.size(index.left) : -2;
    const std::int64_t b = index.right < 0 ? -1 : index.right < right.dim() ? right.size(index.right) : -2;
    if (a == -2 || b == -2 || (a >= 0 && b >= 0 && a != b)) {
      return false;
    }
    if (index.result >= 0) {
      sizes.push_back(a >= 0 ? a : b);
    }
  }
  return true;
}

bool multiply(Call& call, const std::vector<ContractedIndex>& indices) {
  const at::Tensor left = call.tensor(0);
  const at::Tensor right = call.tensor(1);
  std::vector<std::int64_t> sizes;
  if ((!is_split(left) && !is_split(right)) || !result_sizes(left, right, indices, sizes)) {
    return false;
  }
  const Contraction plan = plan_contraction(left, right, indices, std::move(sizes));
  torch::jit::Stack results = call.run({piece(left, plan.left), piece(right, plan.right)});
  call.give_all(wrap(results.front().toTensor(), plan.result, {}, plan.partial));
  return true;
}

// beta * self + alpha * (left @ right): where the product is Partial, the first rank alone adds self.
bool multiply_add(Call& call, const std::vector<ContractedIndex>& indices) {
  const at::Tensor self = call.tensor(0);
  const at::Tensor left = call.tensor(1);
  const at::Tensor right = call.tensor(2);
  std::vector<std::int64_t> sizes;
  if ((!is_split(left) && !is_split(right)) || !result_sizes(left, right, indices, sizes) ||
      self.dim() > static_cast<std::int64_t>(sizes.size())) {
    return false;
  }
  const Contraction plan = plan_contraction(left, right, indices, std::move(sizes));
  at::Tensor added = piece(self, operand_spec(plan.result, self.sizes()));
  if (!is_first(plan.result->mesh, plan.partial)) {
    added = at::zeros_like(added);  // not beta = 0: some kernels then multiply uninitialized memory by it
  }
  torch::jit::Stack results = call.run({added, piece(left, plan.left), piece(right, plan.right), call[3], call[4]});
  call.give_all(wrap(results.front().toTensor(), plan.result, {}, plan.partial));
  return true;
}

bool mm(Call& call) { return multiply(call, kMatrix); }
bool bmm(Call& call) { return multiply(call, kBatched); }
bool mv(Call& call) { return multiply(call, kMatrixVector); }
bool dot(Call& call) { return multiply(call, kDot); }
bool addmm(Call& call) {
  warn_if_replicated(is_dtensor(call.tensor(1)) ? call.tensor(1) : call.tensor(2));
  return multiply_add(call, kMatrix);
}
bool baddbmm(Call& call) { return multiply_add(call, kBatched); }
bool addmv(Call& call) { return multiply_add(call, kMatrixVector); }

}  // namespace

Rules matmul_rules() {
  return {
      {"aten::mm", &mm},       {"aten::bmm", &bmm},         {"aten::mv", &mv},       {"aten::dot", &dot},
      {"aten::addmm", &addmm}, {"aten::baddbmm", &baddbmm}, {"aten::addmv", &addmv},
  };
}

}  // namespace renga
