// SPDX-License-Identifier: Apache-2.0
#include "renga/core/text.hpp"
#include "renga/tensor/rule.hpp"

namespace renga {

OperatorInfo OperatorInfo::of(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OperatorInfo info;
  info.name = schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
  info.base = schema.name().substr(schema.name().find("::") + 2);
  const auto is_written = [](const c10::Argument& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  };
  for (const auto& argument : schema.arguments()) {
    info.written.push_back(is_written(argument));
    info.writes = info.writes || info.written.back();
  }
  if (info.writes && info.base.back() == '_' && info.base.rfind("__", 0) != 0) {
    info.base.pop_back();
  }
  for (const auto& result : schema.returns()) {
    int returned = -1;
    if (is_written(result)) {
      for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
        if (info.written[i] && *schema.arguments()[i].alias_info() == *result.alias_info()) {
          returned = static_cast<int>(i);
        }
      }
    }
    info.returned.push_back(returned);
    info.viewed.push_back(result.alias_info() != nullptr && !is_written(result));
  }
  return info;
}

Call::Call(const c10::OperatorHandle& op, const OperatorInfo& info, torch::jit::Stack& stack)
    : op_(op), info_(info), stack_(stack), count_(info.written.size()), first_(stack.size() - count_) {}

at::Tensor Call::tensor(std::size_t i) const {
  const c10::IValue& value = (*this)[i];
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

torch::jit::Stack Call::arguments() const {
  return {stack_.begin() + static_cast<std::ptrdiff_t>(first_), stack_.end()};
}

torch::jit::Stack Call::run(torch::jit::Stack arguments) const {
  op_.callBoxed(&arguments);
  return arguments;
}

torch::jit::Stack Call::run_other(const char* name, const char* overload, torch::jit::Stack arguments) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(&arguments);
  return arguments;
}

void Call::give(torch::jit::Stack results) {
  stack_.resize(first_);
  for (auto& result : results) {
    stack_.push_back(std::move(result));
  }
}

c10::IValue map_tensors(const c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& change) {
  const auto changed = [&change](const at::Tensor& tensor) { return tensor.defined() ? change(tensor) : tensor; };
  if (value.isTensor()) {
    return changed(value.toTensor());
  }
  if (value.isTensorList()) {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) {
      tensors.push_back(changed(tensor));
    }
    return tensors;
  }
  const auto optional_tensors = c10::OptionalType::ofTensor();
  if (value.isList() && value.toList().elementType()->isSubtypeOf(*optional_tensors)) {
    auto list = c10::impl::GenericList(optional_tensors);
    for (const c10::IValue& item : value.toListRef()) {
      list.push_back(item.isTensor() ? c10::IValue(changed(item.toTensor())) : item);
    }
    return list;
  }
  return value;
}

}  // namespace renga
