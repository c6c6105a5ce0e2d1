// SPDX-License-Identifier: Apache-2.0
#include "renga/core/host_list.hpp"

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

namespace renga {
namespace {

using Names = std::vector<std::string>;
using Hosts = std::vector<HostSlots>;
using Counts = std::vector<std::int64_t>;

TEST(ExpandHosts, EveryShapeThatSlurmWrites) {
  EXPECT_EQ(expand_hosts("a"), (Names{"a"}));
  EXPECT_EQ(expand_hosts("b,a,b"), (Names{"b", "a", "b"}));
  EXPECT_EQ(expand_hosts("node[01-03,07],login-2"), (Names{"node01", "node02", "node03", "node07", "login-2"}));
  EXPECT_EQ(expand_hosts("n[8-11]"), (Names{"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expand_hosts("n[098-101]"), (Names{"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expand_hosts("n[3]"), (Names{"n3"}));
  EXPECT_EQ(expand_hosts("r[1-2]n[1,3]-ib"), (Names{"r1n1-ib", "r1n3-ib", "r2n1-ib", "r2n3-ib"}));
  EXPECT_EQ(expand_hosts("node-a.b.example"), (Names{"node-a.b.example"}));
}

TEST(ExpandHosts, RefusesWhatItCannotRead) {
  for (const char* list : {"", ",", "a,", "a[", "a]", "a[[1]]", "a[]", "a[1-]", "a[-2]", "a[3-1]", "a[x]", "a[1-2-3]",
                           "a[1", "a b", "a[1-99999999]", "a[1-9999]b[1-9999]", "a[99999999999999999999]"}) {
    EXPECT_THROW(expand_hosts(list), InvalidArgument) << list;
  }
}

TEST(ParseHosts, HasCountsAndAddresses) {
  EXPECT_EQ(parse_hosts("a,b:3"), (Hosts{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(parse_hosts("n[1-2]:4,c"), (Hosts{{"n1", 4}, {"n2", 4}, {"c", 1}}));
  EXPECT_EQ(parse_hosts("[fe80::1]:2,[::1],10.0.0.1:8"), (Hosts{{"fe80::1", 2}, {"::1", 1}, {"10.0.0.1", 8}}));
}

TEST(ParseHosts, RefusesWhatItCannotRead) {
  for (const char* list : {"", "a:", "a:x", "a:0", "a:-1", "a:1:2", "fe80::1", ":2"}) {
    EXPECT_THROW(parse_hosts(list), InvalidArgument) << list;
  }
}

TEST(ExpandCounts, RepeatsWhatIsSaidOnce) {
  EXPECT_EQ(expand_counts("2(x3),1"), (Counts{2, 2, 2, 1}));
  EXPECT_EQ(expand_counts("4"), (Counts{4}));
  EXPECT_EQ(expand_counts("1,16(x2)"), (Counts{1, 16, 16}));
  for (const char* counts : {"x", "2(x)", "2(x3", "2(3)", ",", "2(x99999999)"}) {
    EXPECT_THROW(expand_counts(counts), InvalidArgument) << counts;
  }
}

}  // namespace
}  // namespace renga
