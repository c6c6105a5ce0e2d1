// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "safetensors_header.hpp"

namespace renga {
namespace {

struct DtypeName {
  at::ScalarType dtype;
  std::string_view name;
};

constexpr std::array<DtypeName, 11> kDtypes{{
    {at::kDouble, "F64"},
    {at::kFloat, "F32"},
    {at::kHalf, "F16"},
    {at::kBFloat16, "BF16"},
    {at::kLong, "I64"},
    {at::kInt, "I32"},
    {at::kShort, "I16"},
    {at::kChar, "I8"},
    {at::kByte, "U8"},
    {at::kBool, "BOOL"},
    {at::kComplexFloat, "C64"},
}};

}  // namespace

std::string safetensors_dtype(at::ScalarType dtype) {
  const auto* found = std::ranges::find(kDtypes, dtype, &DtypeName::dtype);
  if (found == kDtypes.end()) {
    throw InvalidArgument(text("safetensors: the format has no dtype ", c10::toString(dtype), "; convert the tensor"));
  }
  return std::string(found->name);
}

namespace detail {

std::optional<at::ScalarType> dtype_of(std::string_view name) {
  const auto* found = std::ranges::find(kDtypes, name, &DtypeName::name);
  return found == kDtypes.end() ? std::nullopt : std::optional(found->dtype);
}

std::optional<std::uint64_t> byte_count(const TensorInfo& info) {
  const bool is_empty = std::ranges::find(info.sizes, 0) != info.sizes.end();
  // LibTorch counts elements and bytes in a signed 64-bit number.
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = c10::elementSize(info.dtype);
  for (const std::int64_t size : info.sizes) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (size < 0 || (!is_empty && bytes > limit / factor)) {
      return std::nullopt;
    }
    bytes = is_empty ? bytes : bytes * factor;
  }
  return is_empty ? 0 : bytes;
}

}  // namespace detail
}  // namespace renga
