// SPDX-License-Identifier: Apache-2.0
#include "suite.hpp"

#include <cstdio>

#include <gtest/gtest.h>

#include "renga/tensor/rule.hpp"

#include "tests/support/world.hpp"

namespace renga::test {
namespace {

class Suite : public testing::TestWithParam<SuiteCase> {};

// Forward, gradient and (where marked) second gradient, for every placement on one axis.
TEST_P(Suite, EqualsOneProcess) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});

  const auto lines = check_case(GetParam(), mesh);

  std::string report;
  for (const auto& line : lines) {
    report += "\n  " + line;
  }
  EXPECT_TRUE(lines.empty()) << report;
}

// The same on two axes of two, where there are four ranks.
TEST_P(Suite, EqualsOneProcessOnTwoAxes) {
  if (world().size() != 4) {
    GTEST_SKIP() << "needs 4 ranks";
  }
  std::size_t dims = 0;
  for (const auto& input : GetParam().inputs) {
    dims = std::max(dims, static_cast<std::size_t>(input.dim()));
  }
  if (dims > 3) {
    GTEST_SKIP() << "images are covered on one axis";
  }
  const DeviceMesh mesh(world(), {{"data", 2}, {"channel", 2}});

  const auto lines = check_case(GetParam(), mesh);

  std::string report;
  for (const auto& line : lines) {
    report += "\n  " + line;
  }
  EXPECT_TRUE(lines.empty()) << report;
}

INSTANTIATE_TEST_SUITE_P(Operators, Suite, testing::ValuesIn(suite_cases()), [](const auto& instance) {
  std::string name;
  for (const char c : instance.param.name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name + "_" + std::to_string(instance.index);
});

class Report : public testing::Environment {
 public:
  void TearDown() override {
    if (world().rank() != 0) {
      return;
    }
    int ruled = 0;
    int gathered = 0;
    for (const auto& count : operator_counts()) {
      ruled += count.by_rule > 0 ? 1 : 0;
      gathered += count.gathered > 0 && count.by_rule == 0 ? 1 : 0;
    }
    std::printf("operators met: %d with a rule, %d gathered\n", ruled, gathered);
  }
};

const auto* const kReport = testing::AddGlobalTestEnvironment(new Report);

}  // namespace
}  // namespace renga::test
