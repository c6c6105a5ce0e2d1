// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/random.hpp"

#include <ATen/Functions.h>

#include "renga/core/text.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Random operators. On a split tensor each element's value comes from its global index (the same on every
// mesh); on a replicated one every rank draws LibTorch's own stream, which must be in the same state.
namespace renga {
namespace {

std::optional<at::Generator> generator_of(const c10::IValue& value) {
  return value.isNone() ? std::nullopt : std::optional<at::Generator>(value.toGenerator());
}

// With RENGA_CHECK=1 ranks whose generators differ are an error, not a silent drift.
void check_generator(const DeviceMesh& mesh, const std::optional<at::Generator>& generator, const char* where) {
  if (mesh.world().settings().check && mesh.world().size() > 1) {
    mesh.world().require_same(text("state of the random generator before ", where), text(generator_digest(generator)));
  }
}

// Whether the counter-based form applies.
bool use_counter(const at::Tensor& self) { return is_split(self) && state(self).local.is_floating_point(); }

// LibTorch draws in the order of memory: a tensor that is channels_last here and would be contiguous in one
// process is drawn contiguous, and copied.
bool draw_in_row_major_order(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (is_split(self) || image_order(self).empty()) {
    return false;
  }
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = local_tensor(self).contiguous();
  local_tensor(self).copy_(call.run(std::move(arguments)).front().toTensor());
  return true;
}

void finish(Call& call) {
  const at::Tensor self = call.tensor(0);
  written(self);
  call.give_all(self);
}

// uniform_, normal_ and bernoulli_ have their parameters first and the generator last; others have no
// counter-based form.
using Fill = void (*)(Call&, std::uint64_t key);

template <Fill fill>
bool in_place(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_dtensor(self)) {
    return false;
  }
  const auto generator = generator_of(call[call.size() - 1]);
  check_generator(spec_of(self)->mesh, generator, call.info().name.c_str());
  resolve(self);  // its values go, but it must not stay a sum
  if (fill != nullptr && use_counter(self)) {
    fill(call, random_key(generator));
  } else if (!draw_in_row_major_order(call)) {
    return false;
  }
  finish(call);
  return true;
}

void uniform(Call& call, std::uint64_t key) {
  fill_uniform(call.tensor(0), key, call[1].toDouble(), call[2].toDouble());
}

void normal(Call& call, std::uint64_t key) { fill_normal(call.tensor(0), key, call[1].toDouble(), call[2].toDouble()); }

void bernoulli(Call& call, std::uint64_t key) { fill_bernoulli(call.tensor(0), key, call[1].toDouble()); }

// native_dropout(input, p, train): a mask by global index.
bool dropout(Call& call) {
  const at::Tensor self = call.tensor(0);
  if (!is_split(self) || call[2].isNone() || !call[2].toBool()) {
    return false;
  }
  check_generator(spec_of(self)->mesh, std::nullopt, "native_dropout");
  resolve(self);
  const double keep = 1.0 - call[1].toDouble();
  const at::Tensor& local = local_tensor(self);
  const at::Tensor mask = wrap(at::empty_like(local, local.options().dtype(at::kBool)), spec_of(self), self.strides());
  fill_bernoulli(mask, random_key(), keep);
  const double scale = keep == 0.0 ? 0.0 : 1.0 / keep;
  call.give_all(wrap(local * state(mask).local * scale, spec_of(self), self.strides()), mask);
  return true;
}

}  // namespace

Rules random_rules() {
  return {
      {"aten::uniform_", &in_place<&uniform>},
      {"aten::normal_", &in_place<&normal>},
      {"aten::bernoulli_.float", &in_place<&bernoulli>},
      {"aten::exponential_", &in_place<nullptr>},
      {"aten::cauchy_", &in_place<nullptr>},
      {"aten::log_normal_", &in_place<nullptr>},
      {"aten::geometric_", &in_place<nullptr>},
      {"aten::random_", &in_place<nullptr>},
      {"aten::random_.to", &in_place<nullptr>},
      {"aten::random_.from", &in_place<nullptr>},
      {"aten::native_dropout", &dropout},
  };
}

}  // namespace renga
