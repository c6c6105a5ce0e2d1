// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace renga::data {

/// What the draws of one seed are for; each purpose has a generator of its own, `derived(purpose)`.
constexpr std::uint64_t kTrainSamples = 0;
constexpr std::uint64_t kTestSamples = 1;
constexpr std::uint64_t kEpochOrders = 2;

/// Random bits as a pure function of (key, counter): SplitMix64 with its state computed instead of
/// stepped. What it draws is part of the interface: data orders and synthetic images of a seed must
/// never change.
///
///     mix(x):        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9; x = (x ^ x >> 27) * 0x94d049bb133111eb; x ^ x >> 31
///     key, derived:  key' = mix(key + (counter + 1) * 0x9e3779b97f4a7c15), the draw at `counter` itself
class CounterRandom {
 public:
  constexpr explicit CounterRandom(std::uint64_t key) : key_(key) {}

  /// The draw at `counter`, 64 uniform bits.
  constexpr std::uint64_t at(std::uint64_t counter) const { return mix(key_ + (counter + 1) * kGamma); }

  /// An independent generator for each `counter`.
  constexpr CounterRandom derived(std::uint64_t counter) const { return CounterRandom(at(counter)); }

  /// Uniform in [-1, 1): the upper 24 bits, so that every value is exact in float32.
  constexpr float symmetric(std::uint64_t counter) const {
    return static_cast<float>(at(counter) >> 40) * 0x1p-23F - 1.0F;
  }

 private:
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15U;

  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }

  std::uint64_t key_;
};

/// Draws one after the other from a CounterRandom.
class RandomStream {
 public:
  constexpr explicit RandomStream(CounterRandom source) : source_(source) {}

  /// Uniform in [0, bound), bound >= 1: without bias, draws below 2^64 mod bound are thrown away.
  constexpr std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    std::uint64_t drawn = source_.at(counter_++);
    while (drawn < rejected) {
      drawn = source_.at(counter_++);
    }
    return drawn % bound;
  }

 private:
  CounterRandom source_;
  std::uint64_t counter_ = 0;
};

}  // namespace renga::data
