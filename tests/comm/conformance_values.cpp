// SPDX-License-Identifier: Apache-2.0
#include "tests/comm/backend_conformance.hpp"

namespace renga::test {
namespace {

// Wide enough to hold what is reduced, as the communicator promises to.
at::ScalarType accumulator(at::ScalarType dtype) {
  if (dtype == at::kHalf || dtype == at::kBFloat16) {
    return at::kFloat;
  }
  if (dtype == at::kComplexHalf) {
    return at::kComplexFloat;
  }
  return dtype;
}

at::Tensor reduce_bools(const at::Tensor& all, ReduceOp op) {
  return op == ReduceOp::Sum || op == ReduceOp::Max ? all.any(0) : all.all(0);
}

}  // namespace

const std::vector<at::ScalarType>& all_dtypes() {
  static const std::vector<at::ScalarType> dtypes{at::kFloat, at::kDouble, at::kHalf,         at::kBFloat16,
                                                  at::kChar,  at::kShort,  at::kInt,          at::kLong,
                                                  at::kByte,  at::kBool,   at::kComplexFloat, at::kComplexDouble};
  return dtypes;
}

at::Tensor numbers(at::IntArrayRef sizes, at::ScalarType dtype, int rank, int salt) {
  const std::int64_t count = c10::multiply_integers(sizes);
  const at::Tensor index = at::arange(count, at::kLong) * 7 + rank * 5 + salt * 3;
  if (dtype == at::kBool) {
    return index.remainder(3).eq(0).view(sizes);
  }
  if (c10::isComplexType(dtype)) {
    return at::complex(index.remainder(5).to(at::kDouble) - 2, (index + 1).remainder(3).to(at::kDouble))
        .to(dtype)
        .view(sizes);
  }
  const int shift = dtype == at::kByte ? 0 : 2;
  return (index.remainder(5) - shift).to(dtype).view(sizes);
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all{
      {"contiguous", [](const at::Tensor& t) { return t.clone(); }},
      {"transposed", [](const at::Tensor& t) { return t.transpose(1, 3).contiguous().transpose(1, 3); }},
      {"sliced",
       [](const at::Tensor& t) {
         std::vector<std::int64_t> wide = t.sizes().vec();
         wide.back() = 2 * wide.back() + 1;
         const at::Tensor view = at::zeros(wide, t.options()).slice(3, 1, wide.back(), 2);
         return view.copy_(t);
       }},
      {"channels_last", [](const at::Tensor& t) { return t.contiguous(at::MemoryFormat::ChannelsLast).clone(); }},
      {"conjugated", [](const at::Tensor& t) { return t.is_complex() ? t.conj().resolve_conj().conj() : t.clone(); }}};
  return all;
}

at::Tensor reduced(const std::vector<at::Tensor>& pieces, ReduceOp op) {
  const at::ScalarType dtype = pieces.front().scalar_type();
  const at::Tensor all = at::stack(pieces).to(accumulator(dtype));
  if (dtype == at::kBool) {
    return reduce_bools(all, op);
  }
  const auto divisor = static_cast<std::int64_t>(pieces.size());
  switch (op) {
    case ReduceOp::Sum:
      return all.sum(0).to(dtype);
    case ReduceOp::Avg:
      return all.sum(0).div(divisor).to(dtype);
    case ReduceOp::Min:
      return all.amin(0).to(dtype);
    case ReduceOp::Max:
      return all.amax(0).to(dtype);
    case ReduceOp::Prod:
      return all.prod(0).to(dtype);
  }
  return {};
}

::testing::AssertionResult same(const at::Tensor& actual, const at::Tensor& expected) {
  if (actual.scalar_type() != expected.scalar_type()) {
    return ::testing::AssertionFailure() << "dtype " << actual.scalar_type() << ", expected " << expected.scalar_type();
  }
  if (actual.sizes() != expected.sizes()) {
    return ::testing::AssertionFailure() << "sizes " << actual.sizes() << ", expected " << expected.sizes();
  }
  if (!actual.eq(expected).all().item<bool>()) {
    return ::testing::AssertionFailure() << "values\n" << actual << "\nexpected\n" << expected;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace renga::test
