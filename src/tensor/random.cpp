// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/random.hpp"

#include <cmath>
#include <mutex>

#include <ATen/Context.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

constexpr double kPi = 3.14159265358979323846;

at::Generator chosen(const std::optional<at::Generator>& generator) {
  return generator && generator->defined() ? *generator : at::globalContext().defaultGenerator(at::kCPU);
}

// A double in [0, 1) with 53 random bits.
double unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32U | low) >> 11U;
  return static_cast<double>(bits) * 0x1.0p-53;
}

// Calls visit(local flat index, global flat index, run) for each run of this rank's piece that is
// contiguous in both row-major orders.
template <typename Visit>
void for_each_run(const Spec& spec, Visit visit) {
  const auto dims = static_cast<std::size_t>(spec.dim());
  const auto local = spec.local_sizes();
  std::int64_t count = 1;
  for (const auto size : local) {
    count *= size;
  }
  if (count == 0) {
    return;
  }
  const std::int64_t run = dims == 0 ? 1 : local[dims - 1];
  for (std::int64_t flat = 0; flat < count; flat += run) {
    std::int64_t rest = flat;
    std::int64_t global = 0;
    std::int64_t stride = 1;
    for (std::size_t d = dims; d-- > 0;) {
      global += (rest % local[d] + spec.own(static_cast<std::int64_t>(d)).begin) * stride;
      rest /= local[d];
      stride *= spec.sizes[d];
    }
    visit(flat, global, run);
  }
}

// Values are made in double, row-major, and copied into the piece, whatever its dtype and strides.
template <typename Value>
void fill(const at::Tensor& tensor, std::uint64_t key, Value value) {
  const State& here = state(tensor);
  const at::Tensor values = at::empty(here.local.sizes(), here.local.options().dtype(at::kDouble));
  auto* out = values.data_ptr<double>();
  for_each_run(*here.spec, [&](std::int64_t at, std::int64_t global, std::int64_t run) {
    for (std::int64_t k = 0; k < run; ++k) {
      out[at + k] = value(philox(key, static_cast<std::uint64_t>(global + k)));
    }
  });
  here.local.copy_(values);
}

}  // namespace

PhiloxWords philox(std::uint64_t key, std::uint64_t counter) {
  std::uint32_t c0 = static_cast<std::uint32_t>(counter);
  std::uint32_t c1 = static_cast<std::uint32_t>(counter >> 32U);
  std::uint32_t c2 = 0;
  std::uint32_t c3 = 0;
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

std::uint64_t random_key(const std::optional<at::Generator>& generator) {
  at::Generator used = chosen(generator);
  const std::lock_guard lock(used.mutex());
  return at::check_generator<at::CPUGeneratorImpl>(used)->random64();
}

std::uint64_t generator_digest(const std::optional<at::Generator>& generator) {
  const at::Generator used = chosen(generator);
  const at::Tensor bytes = used.get_state();
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto* data = bytes.data_ptr<std::uint8_t>();
  for (std::int64_t i = 0; i < bytes.numel(); ++i) {
    hash = (hash ^ data[i]) * 1099511628211U;
  }
  return hash;
}

void fill_uniform(const at::Tensor& tensor, std::uint64_t key, double from, double to) {
  fill(tensor, key, [=](PhiloxWords w) { return from + (to - from) * unit(w.word[0], w.word[1]); });
}

void fill_normal(const at::Tensor& tensor, std::uint64_t key, double mean, double deviation) {
  fill(tensor, key, [=](PhiloxWords w) {  // Box and Muller; 1 - u keeps the logarithm finite
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(w.word[0], w.word[1])));
    return mean + deviation * radius * std::cos(2.0 * kPi * unit(w.word[2], w.word[3]));
  });
}

void fill_bernoulli(const at::Tensor& tensor, std::uint64_t key, double probability) {
  fill(tensor, key, [=](PhiloxWords w) { return unit(w.word[0], w.word[1]) < probability ? 1.0 : 0.0; });
}

}  // namespace renga
