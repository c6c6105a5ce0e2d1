// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace renga {

/// Four 32-bit words from a 64-bit key and a 64-bit counter.
/// @source Philox4x32-10: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011
struct PhiloxWords {
  std::uint32_t word[4];
};
PhiloxWords philox(std::uint64_t key, std::uint64_t counter);

/// A key for one random operation, drawn from the generator (LibTorch's default one if none): every rank
/// draws it alike, whatever it owns.
std::uint64_t random_key(const std::optional<at::Generator>& generator = std::nullopt);

/// A hash of the generator's state, to compare over ranks; does not advance it.
std::uint64_t generator_digest(const std::optional<at::Generator>& generator = std::nullopt);

/// Fills the piece of a distributed floating tensor: element with row-major global index i becomes a
/// function of philox(key, i) alone, so the values do not depend on the mesh.
void fill_uniform(const at::Tensor& tensor, std::uint64_t key, double from, double to);
void fill_normal(const at::Tensor& tensor, std::uint64_t key, double mean, double deviation);
/// 1 with the given probability, else 0; any dtype.
void fill_bernoulli(const at::Tensor& tensor, std::uint64_t key, double probability);

}  // namespace renga
