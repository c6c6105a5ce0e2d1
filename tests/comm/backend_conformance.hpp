// SPDX-License-Identifier: Apache-2.0
// One suite that every backend passes: conformance_*.cpp. A test program gives `openers()`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "renga/comm/communicator.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::test {

/// A way to open a communicator over all ranks of the test.
struct Opener {
  std::string name;
  std::function<Communicator(const Settings& settings, std::optional<std::string> host)> open;
};

/// Those of the backend under test.
std::vector<Opener> openers();

class Conformance : public ::testing::TestWithParam<Opener> {
 protected:
  Communicator open() const { return GetParam().open(Settings(), std::nullopt); }
  Communicator open_checked() const {
    Settings settings;
    settings.check = true;
    return GetParam().open(settings, std::nullopt);
  }
};

/// Instantiates a suite of this family.
#define RENGA_CONFORMANCE(suite)                                           \
  class suite : public Conformance {};                                     \
  INSTANTIATE_TEST_SUITE_P(Backend, suite, ::testing::ValuesIn(openers()), \
                           [](const auto& parameter) { return parameter.param.name; })

/// Every dtype that is communicated.
const std::vector<at::ScalarType>& all_dtypes();

/// Small whole numbers that differ between ranks and elements: their sums are exact in every dtype.
at::Tensor numbers(at::IntArrayRef sizes, at::ScalarType dtype, int rank, int salt = 0);

/// The same values in other memory layouts; `sizes` has four dims.
struct Layout {
  std::string name;
  std::function<at::Tensor(const at::Tensor&)> arrange;
};
const std::vector<Layout>& layouts();

/// What a reduction of these must give, computed in one process.
at::Tensor reduced(const std::vector<at::Tensor>& pieces, ReduceOp op);

/// Same dtype, sizes and values.
::testing::AssertionResult same(const at::Tensor& actual, const at::Tensor& expected);

/// What `action` throws as `Expected`, or a text that says that it did not.
template <typename Expected, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another type: ") + error.what();
  }
  return "nothing was thrown";
}

}  // namespace renga::test
