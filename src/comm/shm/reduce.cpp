// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include <c10/core/ScalarType.h>
#include <c10/util/BFloat16.h>
#include <c10/util/complex.h>
#include <c10/util/Half.h>

#include "reduce_loops.hpp"

namespace renga::detail {
namespace {

constexpr std::int64_t kPiece = 1024;  // elements that are reduced in the nearest cache

template <typename T>
constexpr bool kComplex = std::is_same_v<T, c10::complex<float>> || std::is_same_v<T, c10::complex<double>>;

// What a dtype is computed in.
template <typename T>
struct Computed {
  using type = T;
};
template <>
struct Computed<c10::Half> {
  using type = float;
};
template <>
struct Computed<c10::BFloat16> {
  using type = float;
};

template <typename A, typename T>
void combine(A* sum, const T* value, std::int64_t count, ReduceOp op) {
  if (op == ReduceOp::Prod) {
    return multiply(sum, value, count);
  }
  if constexpr (!kComplex<T>) {
    if (op == ReduceOp::Min) {
      return minimize(sum, value, count);
    }
    if (op == ReduceOp::Max) {
      return maximize(sum, value, count);
    }
  }
  add(sum, value, count);
}

// A sum of so many becomes their mean.
template <typename A>
void average(A* sum, std::size_t sources, std::int64_t count) {
  if constexpr (std::is_floating_point_v<A> || kComplex<A>) {
    divide(sum, static_cast<std::int64_t>(sources), count);
  }
}

template <typename T>
void reduce_typed(const std::vector<const char*>& sources, const std::vector<char*>& targets, std::int64_t elements,
                  ReduceOp op) {
  using A = typename Computed<T>::type;
  std::array<A, kPiece> sum;
  std::array<T, kPiece> rounded;
  for (std::int64_t begin = 0; begin < elements; begin += kPiece) {
    const std::int64_t count = std::min(kPiece, elements - begin);
    const auto piece = [begin](const char* data) { return reinterpret_cast<const T*>(data) + begin; };
    convert(piece(sources.front()), sum.data(), count);
    for (std::size_t r = 1; r < sources.size(); ++r) {
      combine(sum.data(), piece(sources[r]), count, op);
    }
    if (op == ReduceOp::Avg) {
      average(sum.data(), sources.size(), count);
    }
    const void* result = sum.data();
    if constexpr (!std::is_same_v<A, T>) {
      convert(sum.data(), rounded.data(), count);
      result = rounded.data();
    }
    for (char* const target : targets) {
      std::memcpy(target + begin * static_cast<std::int64_t>(sizeof(T)), result,
                  static_cast<std::size_t>(count) * sizeof(T));
    }
  }
}

}  // namespace

bool can_reduce(at::ScalarType dtype, ReduceOp op) {
  switch (dtype) {
    case at::kFloat:
    case at::kDouble:
    case at::kHalf:
    case at::kBFloat16:
      return true;
    case at::kByte:
    case at::kChar:
    case at::kShort:
    case at::kInt:
    case at::kLong:
      return op != ReduceOp::Avg;
    case at::kComplexFloat:
    case at::kComplexDouble:
      return op != ReduceOp::Min && op != ReduceOp::Max;
    default:
      return false;
  }
}

void reduce(const std::vector<const char*>& sources, const std::vector<char*>& targets, std::int64_t elements,
            at::ScalarType dtype, ReduceOp op) {
  const auto run = [&](auto sample) { reduce_typed<decltype(sample)>(sources, targets, elements, op); };
  switch (dtype) {
    case at::kFloat:
      return run(float{});
    case at::kDouble:
      return run(double{});
    case at::kHalf:
      return run(c10::Half{});
    case at::kBFloat16:
      return run(c10::BFloat16{});
    case at::kByte:
      return run(std::uint8_t{});
    case at::kChar:
      return run(std::int8_t{});
    case at::kShort:
      return run(std::int16_t{});
    case at::kInt:
      return run(std::int32_t{});
    case at::kLong:
      return run(std::int64_t{});
    case at::kComplexFloat:
      return run(c10::complex<float>{});
    default:
      return run(c10::complex<double>{});
  }
}

}  // namespace renga::detail
