// SPDX-License-Identifier: Apache-2.0
#include "renga/core/text.hpp"

#include <gtest/gtest.h>

namespace renga {
namespace {

using Parts = std::vector<std::string>;

TEST(Text, JoinsItsPartsAsStreamsPrintThem) { EXPECT_EQ(text("a", 1, ' ', 2.5), "a1 2.5"); }

TEST(SizesText, WritesBracketsAndCommas) {
  EXPECT_EQ(sizes_text(std::vector<std::int64_t>{2, 3, 4}), "[2, 3, 4]");
  EXPECT_EQ(sizes_text(std::vector<std::int64_t>{7}), "[7]");
  EXPECT_EQ(sizes_text(std::vector<std::int64_t>{}), "[]");
}

TEST(SplitText, GivesOnePartMoreThanSeparators) {
  EXPECT_EQ(split_text("a,b", ','), (Parts{"a", "b"}));
  EXPECT_EQ(split_text("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split_text(",a,", ','), (Parts{"", "a", ""}));
  EXPECT_EQ(split_text("a", ','), (Parts{"a"}));
}

TEST(SplitText, OfTheEmptyStringHasNoParts) { EXPECT_EQ(split_text("", ','), Parts{}); }

}  // namespace
}  // namespace renga
