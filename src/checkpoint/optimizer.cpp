// SPDX-License-Identifier: Apache-2.0
// An optimizer's state by the names of its parameters.
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/safetensors.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "agree.hpp"
#include "named.hpp"
#include "optimizer_state.hpp"
#include "save_list.hpp"

namespace renga {
namespace {

using torch::optim::Optimizer;

constexpr const char* kKindKey = "optimizer";

detail::NamedList numbered(const Optimizer& optimizer) {
  detail::NamedList list;
  for (const auto& parameter : detail::parameters_of(optimizer)) {
    list.emplace_back(std::to_string(list.size()), parameter);
  }
  return list;
}

detail::NamedList named(const Optimizer& optimizer, const torch::nn::Module& module) {
  std::map<const at::TensorImpl*, std::string> names;
  for (const auto& item : module.named_parameters()) {
    names.emplace(item.value().unsafeGetTensorImpl(), item.key());
  }
  detail::NamedList list = numbered(optimizer);
  for (auto& [name, parameter] : list) {
    const auto found = names.find(parameter.unsafeGetTensorImpl());
    if (found == names.end()) {
      throw InvalidArgument(text("optimizer: parameter ", name, ": not among the module's parameters"));
    }
    name = found->second;
  }
  return list;
}

// As many digits as it takes to read back the same number.
std::string number_text(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

std::string rate_key(std::size_t group) { return text("learning_rate.", group); }

Metadata metadata_of(const Optimizer& optimizer) {
  Metadata metadata{{kKindKey, detail::kind_of(optimizer).name}};
  const auto rates = detail::learning_rates(optimizer);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    metadata[rate_key(i)] = number_text(rates[i]);
  }
  return metadata;
}

at::Tensor saved_value(const detail::StateField& field) {
  if (auto* const* number = std::get_if<std::int64_t*>(&field.value)) {
    return at::full({}, **number, at::kLong);
  }
  return *std::get<at::Tensor*>(field.value);
}

void save_named(const std::string& path, const Optimizer& optimizer, const detail::NamedList& parameters) {
  const auto& kind = detail::kind_of(optimizer);
  const auto mesh = detail::common_mesh("save", parameters);
  detail::NamedList list;
  for (const auto& [name, parameter] : parameters) {
    if (auto* state = detail::find_state(optimizer, parameter)) {
      for (const auto& field : kind.fields(*state)) {
        if (const at::Tensor value = saved_value(field); value.defined()) {
          list.emplace_back(name + "." + field.name, value);
        }
      }
    }
  }
  // Not by the mesh of the state: without any state all processes would write.
  detail::save_list(path, std::move(list), metadata_of(optimizer), mesh ? mesh->world() : Communicator::self());
}

/// A file that is being loaded. What does not fit is a FileError.
class StateReader {
 public:
  StateReader(const std::string& path, const Optimizer& optimizer) : path_(path), reader_(path) {
    const std::string kind = detail::kind_of(optimizer).name;
    const auto& metadata = reader_.metadata();
    const auto found = metadata.find(kKindKey);
    const std::string got = found == metadata.end() ? "none" : found->second;
    require(got == kind, text("optimizer: expected ", kind, ", got ", got));
    const std::size_t groups = optimizer.param_groups().size();
    require(metadata.size() == groups + 1, text("groups: expected ", groups, ", got ", metadata.size() - 1));
    for (std::size_t i = 0; i < groups; ++i) {
      rates_.push_back(rate(i));
    }
  }

  const std::vector<double>& rates() const { return rates_; }

  /// The state of one parameter; null if the file has none.
  detail::ParamState read(const detail::OptimizerKind& kind, const std::string& name, const at::Tensor& parameter) {
    detail::ParamState state = kind.make();
    std::size_t found = 0;
    std::string missing;
    for (const auto& field : kind.fields(*state)) {
      const std::string full_name = name + "." + field.name;
      if (reader_.contains(full_name)) {
        ++found;
        read_field(full_name, field, parameter);
      } else if (field.presence == detail::Presence::Always) {
        missing = full_name;
      }
    }
    require(found == 0 || missing.empty(), text("\"", missing, "\" is missing"));
    used_ += found;
    return found == 0 ? nullptr : std::move(state);
  }

  /// After all parameters were read.
  void require_all_used() const {
    const auto count = reader_.tensors().size();
    require(count == used_,
            text("expected state of the optimizer's parameters alone, got ", count - used_, " tensors of others"));
  }

 private:
  void require(bool holds, const std::string& what) const {
    if (!holds) {
      throw FileError(text("read: ", path_, ": does not fit the optimizer: ", what));
    }
  }

  double rate(std::size_t group) const {
    const auto found = reader_.metadata().find(rate_key(group));
    require(found != reader_.metadata().end(), text(rate_key(group), " is missing"));
    const std::string& digits = found->second;
    double value = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    require(!digits.empty() && end == digits.data() + digits.size(),
            text(rate_key(group), ": expected a number, got ", digits));
    return value;
  }

  void read_field(const std::string& full_name, const detail::StateField& field, const at::Tensor& parameter) {
    const bool is_number = std::holds_alternative<std::int64_t*>(field.value);
    const auto& info = reader_.info(full_name);
    const at::IntArrayRef expected = is_number ? at::IntArrayRef{} : parameter.sizes();
    require(at::IntArrayRef(info.sizes) == expected,
            text("\"", full_name, "\": expected ", sizes_text(expected), ", got ", sizes_text(info.sizes)));
    require(!is_number || info.dtype == at::kLong, text("\"", full_name, "\": expected a whole number"));
    const at::Tensor value = reader_.read(full_name);
    if (is_number) {
      *std::get<std::int64_t*>(field.value) = value.item<std::int64_t>();
      return;
    }
    at::Tensor& target = *std::get<at::Tensor*>(field.value);
    target = at::zeros_like(parameter.detach());  // its dtype, placement and memory format
    detail::copy_into(target, value);
  }

  std::string path_;
  SafetensorsReader reader_;
  std::vector<double> rates_;
  std::size_t used_ = 0;
};

void load_named(const std::string& path, Optimizer& optimizer, const detail::NamedList& parameters) {
  const auto& kind = detail::kind_of(optimizer);
  const auto mesh = detail::common_mesh("load", parameters);
  const at::NoGradGuard no_grad;
  std::vector<detail::ParamState> states;
  std::vector<double> rates;
  // A new tensor has nothing to add up, so writing its pieces does not communicate and each rank may stop alone.
  detail::agree(mesh, detail::error_of([&] {
                  StateReader reader(path, optimizer);
                  for (const auto& [name, parameter] : parameters) {
                    states.push_back(reader.read(kind, name, parameter));
                  }
                  reader.require_all_used();
                  rates = reader.rates();
                }));
  for (std::size_t i = 0; i < states.size(); ++i) {
    detail::replace_state(optimizer, parameters[i].second, std::move(states[i]));
  }
  detail::set_learning_rates(optimizer, rates);
}

}  // namespace

void save(const std::string& path, const Optimizer& optimizer, const torch::nn::Module& module) {
  save_named(path, optimizer, named(optimizer, module));
}

void save(const std::string& path, const Optimizer& optimizer) { save_named(path, optimizer, numbered(optimizer)); }

void load(const std::string& path, Optimizer& optimizer, const torch::nn::Module& module) {
  load_named(path, optimizer, named(optimizer, module));
}

void load(const std::string& path, Optimizer& optimizer) { load_named(path, optimizer, numbered(optimizer)); }

}  // namespace renga
