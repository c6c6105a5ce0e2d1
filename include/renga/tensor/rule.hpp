// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/stack.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "renga/tensor/spec.hpp"

namespace renga {

/// While it lives, operators of this thread act on plain tensors only: below autograd, and without
/// `Scope` catching factories.
struct LocalGuard {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  c10::impl::ExcludeDispatchKeyGuard no_scope{c10::DispatchKey::DeferredInit};
};

/// What an operator's schema says that rules need, read once.
struct OperatorInfo {
  std::string name;           ///< "aten::add.Tensor"
  std::string base;           ///< "add": without namespace, overload and the "_" of an in-place form
  std::vector<bool> written;  ///< for each argument: whether the operator writes into it
  std::vector<int> returned;  ///< for each result: the written argument it is, or -1
  std::vector<bool> viewed;   ///< for each result: whether it is a view of an argument
  bool writes = false;        ///< any argument is written

  static OperatorInfo of(const c10::OperatorHandle& op);
};

/// One call of one operator: arguments in, results out. Made by the dispatcher glue; a rule reads
/// arguments, computes local results (`run` calls the same operator on plain tensors) and returns them.
class Call {
 public:
  Call(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack& stack);

  const OperatorInfo& info() const { return info_; }
  const c10::OperatorHandle& handle() const { return op_; }
  std::size_t size() const { return count_; }
  const c10::IValue& operator[](std::size_t i) const { return stack_[first_ + i]; }

  /// Argument i as a tensor; undefined when it is None.
  at::Tensor tensor(std::size_t i) const;
  std::vector<std::int64_t> ints(std::size_t i) const { return (*this)[i].toIntVector(); }

  /// All arguments, to be changed and passed to `run`.
  torch::jit::Stack arguments() const;
  /// Calls the operator on plain arguments and returns its results.
  torch::jit::Stack run(torch::jit::Stack arguments) const;
  /// Calls another operator of the same namespace: `call.run_as("aten::view", "", …)`.
  static torch::jit::Stack run_other(const char* name, const char* overload, torch::jit::Stack arguments);

  /// Ends the call: these are the results. A rule calls it exactly once, and only if it applies.
  void give(torch::jit::Stack results);
  template <typename... Results>
  void give_all(Results... results) {
    torch::jit::Stack out;
    (out.emplace_back(std::move(results)), ...);
    give(std::move(out));
  }

 private:
  friend class OperatorKernel;
  const c10::OperatorHandle& op_;
  const OperatorInfo& info_;
  torch::jit::Stack& stack_;
  std::size_t count_;
  std::size_t first_;
};

/// How one operator acts on split tensors. Returns false, before it has changed or communicated
/// anything, when it does not apply; then the operator is gathered and computed replicated.
/// It must decide on specs and sizes only, never on its own piece: all ranks must decide alike.
using Rule = bool (*)(Call&);

struct RuleEntry {
  std::string name;  ///< "aten::mm"; an operator this LibTorch does not have is skipped
  Rule rule;
};

/// Registers the glue for every operator of LibTorch, with these rules. Called once, before the first
/// distributed tensor; operators without a rule are gathered.
void register_operators(const std::vector<RuleEntry>& rules);

/// How an operator call ended, counted since the process started: for tests and `renga ops`.
struct OperatorCount {
  std::string name;
  std::int64_t by_rule = 0;
  std::int64_t gathered = 0;    ///< no rule applied and something split had to be gathered
  std::int64_t replicated = 0;  ///< no rule applied, nothing was split
};
std::vector<OperatorCount> operator_counts();

// -- helpers for rules -----------------------------------------------------------------------------------

/// Calls `visit(tensor)` for each defined tensor in an argument: a tensor, a list, a list of optionals.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) {
      visit(value.toTensor());
    }
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) {
      if (tensor.defined()) {
        visit(tensor);
      }
    }
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) {
        visit(item.toTensor());
      }
    }
  }
}

/// The same argument with each defined tensor replaced by `change(tensor)`.
c10::IValue map_tensors(const c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& change);

/// A dim counted from the front, where it may have been counted from the back.
inline std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims) { return dim < 0 ? dim + dims : dim; }

}  // namespace renga
