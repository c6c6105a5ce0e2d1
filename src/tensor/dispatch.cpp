// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cassert>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include "renga/core/error.hpp"
#include "renga/core/log.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/geometry.hpp"
#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

#include "fallback.hpp"

namespace renga {

// What the process's one dispatcher calls for each operator. LibTorch's dispatcher is global, so the
// kernels that it holds are; they carry no state of any job beyond counts and "warned already".
class OperatorKernel final : public c10::OperatorKernel {
 public:
  struct Entry {
    OperatorInfo info;
    Rule rule = nullptr;
    std::atomic<std::int64_t> by_rule{0};
    std::atomic<std::int64_t> gathered{0};
    std::atomic<std::int64_t> replicated{0};
    std::atomic<bool> warned{false};
  };

  explicit OperatorKernel(Entry& entry) : entry_(entry) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    dispatch(entry_, op, *stack);
  }

  static void dispatch(Entry& entry, const c10::OperatorHandle& op, torch::jit::Stack& stack);

 private:
  Entry& entry_;
};

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<OperatorKernel::Entry>> entries;
  std::vector<std::unique_ptr<torch::Library>> libraries;
};

Registry& registry() {
  static auto* instance = new Registry();  // never destroyed: kernels may run during static destruction
  return *instance;
}

OperatorKernel::Entry& entry_of(const c10::OperatorHandle& op) {
  OperatorInfo info = OperatorInfo::of(op);
  const std::lock_guard lock(registry().mutex);
  auto& entry = registry().entries[info.name];
  if (!entry) {
    entry = std::make_unique<OperatorKernel::Entry>();
    entry->info = std::move(info);
  }
  return *entry;
}

// RENGA_STRICT of the job whose tensors meet here.
bool is_strict(const Call& call) {
  bool strict = false;
  for (std::size_t i = 0; i < call.size(); ++i) {
    for_each_tensor(call[i], [&strict](const at::Tensor& tensor) {
      strict = strict || (is_dtensor(tensor) && state(tensor).spec->mesh.world().settings().strict);
    });
  }
  return strict;
}

void report_gather(OperatorKernel::Entry& entry, const Call& call) {
  ++entry.gathered;
  if (is_strict(call)) {
    throw NotAvailable(text(entry.info.name,
                            ": no rule for these splits, and RENGA_STRICT=1 forbids gathering; "
                            "see docs/operators.md on adding a rule"));
  }
  if (!entry.warned.exchange(true)) {
    log::warning(text(entry.info.name,
                      ": no rule for these splits; gathered and computed whole on every rank. "
                      "Exact, but slow: see docs/operators.md on adding a rule"));
  }
}

// Operators that only report on an object, or that are asked of every tensor; gathering is right for them.
bool is_expected_gather(const OperatorInfo& info) { return info.base == "_local_scalar_dense"; }

// Any operator that was not registered one by one, such as those of libraries loaded later.
void late(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  OperatorKernel::dispatch(entry_of(op), op, *stack);
}

bool takes_tensors(const c10::FunctionSchema& schema) {
  for (const auto& argument : schema.arguments()) {
    const auto& type = *argument.type();
    if (type.isSubtypeOf(*c10::TensorType::get()) || type.isSubtypeOf(*c10::ListType::ofTensors()) ||
        type.isSubtypeOf(*c10::OptionalType::ofTensor()) ||
        argument.type()->str().find("Tensor") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

namespace {

// Whether what a rule made lies in memory as its global strides say: no kernel then has to reorder it.
[[maybe_unused]] bool is_in_order(const at::Tensor& result) {
  if (!is_dtensor(result) || !state(result).spec->is_split()) {
    return true;
  }
  const State& here = state(result);
  const bool is_own = here.local.is_same(here.memory->root) && !here.memory->source;
  return !is_own || !result.is_non_overlapping_and_dense() || has_order(here.local, result.strides());
}

}  // namespace

void OperatorKernel::dispatch(Entry& entry, const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const LocalGuard guard;
  Call call(op, entry.info, stack);
  if (entry.rule != nullptr && entry.rule(call)) {
    ++entry.by_rule;
    assert(std::all_of(stack.begin(), stack.end(),
                       [](const c10::IValue& value) { return !value.isTensor() || is_in_order(value.toTensor()); }));
    return;
  }
  if (!needs_gather(call)) {
    ++entry.replicated;
  } else if (!is_expected_gather(entry.info)) {
    report_gather(entry, call);
  }
  compute_replicated(call);
}

std::vector<OperatorCount> operator_counts() {
  const std::lock_guard lock(registry().mutex);
  std::map<std::string, OperatorCount> sorted;
  for (const auto& [name, entry] : registry().entries) {
    if (entry->by_rule + entry->gathered + entry->replicated > 0) {
      sorted[name] = {name, entry->by_rule, entry->gathered, entry->replicated};
    }
  }
  std::vector<OperatorCount> counts;
  for (auto& [name, count] : sorted) {
    counts.push_back(std::move(count));
  }
  return counts;
}

void register_operators(const std::vector<RuleEntry>& rules) {
  std::map<std::string, Rule> by_name;
  for (const auto& entry : rules) {
    by_name.emplace(entry.name, entry.rule);
  }
  auto& dispatcher = c10::Dispatcher::singleton();
  auto library =
      std::make_unique<torch::Library>(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  // A backend fallback alone is not enough: operators with a CompositeExplicitAutograd kernel bypass it.
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    const bool ours = name.name.rfind("aten::", 0) == 0 && op && op->hasSchema() &&
                      !op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
                      !op->hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1) && takes_tensors(op->schema());
    if (!ours) {
      continue;
    }
    auto& entry = entry_of(*op);
    const auto rule = by_name.find(entry.info.name);
    entry.rule = rule == by_name.end() ? nullptr : rule->second;
    library->impl(entry.info.name.c_str() + 6,
                  torch::CppFunction::makeFromBoxedFunctor(std::make_unique<OperatorKernel>(entry)));
  }
  registry().libraries.push_back(std::move(library));
  auto rest =
      std::make_unique<torch::Library>(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
  rest->fallback(torch::CppFunction::makeFromBoxedFunction<&late>());
  registry().libraries.push_back(std::move(rest));
}

}  // namespace renga
