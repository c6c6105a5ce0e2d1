// SPDX-License-Identifier: Apache-2.0
#include "renga/core/settings.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

namespace renga {
namespace {

class SettingsTest : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }

  static void clear() {
    for (const char* name : {"RENGA_TIMEOUT", "RENGA_CHECK", "RENGA_STRICT", "RENGA_LOG"}) {
      unsetenv(name);
    }
  }

  static std::string message() {
    try {
      Settings::from_environment();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
};

TEST_F(SettingsTest, DefaultsHoldWithoutVariables) {
  const Settings settings = Settings::from_environment();

  EXPECT_EQ(settings.timeout.count(), 300.0);
  EXPECT_FALSE(settings.check);
  EXPECT_FALSE(settings.strict);
  EXPECT_EQ(settings.log, "info");
}

TEST_F(SettingsTest, VariablesAreRead) {
  setenv("RENGA_TIMEOUT", "2.5", 1);
  setenv("RENGA_CHECK", "1", 1);
  setenv("RENGA_STRICT", "1", 1);
  setenv("RENGA_LOG", "debug", 1);

  const Settings settings = Settings::from_environment();

  EXPECT_EQ(settings.timeout.count(), 2.5);
  EXPECT_TRUE(settings.check);
  EXPECT_TRUE(settings.strict);
  EXPECT_EQ(settings.log, "debug");
}

TEST_F(SettingsTest, ZeroAndEmptyAreOff) {
  setenv("RENGA_CHECK", "0", 1);
  setenv("RENGA_STRICT", "", 1);

  EXPECT_FALSE(Settings::from_environment().check);
  EXPECT_FALSE(Settings::from_environment().strict);
}

TEST_F(SettingsTest, BadValuesNameTheVariableAndWhatItMayBe) {
  for (const char* bad : {"soon", "0", "-1", "inf", "nan", "5s", " "}) {
    setenv("RENGA_TIMEOUT", bad, 1);
    EXPECT_EQ(message(), "RENGA_TIMEOUT: expected seconds above 0, got \"" + std::string(bad) + "\"");
  }
  clear();
  setenv("RENGA_CHECK", "yes", 1);
  EXPECT_EQ(message(), "RENGA_CHECK: expected 0 or 1, got \"yes\"");
  clear();
  setenv("RENGA_LOG", "loud", 1);
  EXPECT_EQ(message(), "RENGA_LOG: expected error, warning, info or debug, got \"loud\"");
}

}  // namespace
}  // namespace renga
