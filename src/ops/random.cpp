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

// Checks, and says whether the counter-based form applies.
bool use_counter(Call& call, const c10::IValue& generator) {
  const at::Tensor self = call.tensor(0);
  if (!is_dtensor(self)) {
    return false;
  }
  check_generator(spec_of(self)->mesh, generator_of(generator), call.info().name.c_str());
  if (!is_split(self) || !state(self).local.is_floating_point()) {
    return false;
  }
  resolve(self);  // its values go, but it must not stay a sum
  return true;
}

void finish(Call& call) {
  const at::Tensor self = call.tensor(0);
  written(self);
  call.give_all(self);
}

bool uniform(Call& call) {
  if (!use_counter(call, call[3])) {
    return false;
  }
  fill_uniform(call.tensor(0), random_key(generator_of(call[3])), call[1].toDouble(), call[2].toDouble());
  finish(call);
  return true;
}

bool normal(Call& call) {
  if (!use_counter(call, call[3])) {
    return false;
  }
  fill_normal(call.tensor(0), random_key(generator_of(call[3])), call[1].toDouble(), call[2].toDouble());
  finish(call);
  return true;
}

bool bernoulli(Call& call) {
  if (!use_counter(call, call[2])) {
    return false;
  }
  fill_bernoulli(call.tensor(0), random_key(generator_of(call[2])), call[1].toDouble());
  finish(call);
  return true;
}

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
      {"aten::uniform_", &uniform},
      {"aten::normal_", &normal},
      {"aten::bernoulli_.float", &bernoulli},
      {"aten::native_dropout", &dropout},
  };
}

}  // namespace renga
