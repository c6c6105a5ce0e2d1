// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "renga/comm/communicator.hpp"

#include "tests/support/watchdog.hpp"

namespace renga::test {

/// Prints failures only, with the rank in front; in place of gtest's printer on ranks other than 0.
class FailurePrinter : public ::testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}
  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestPartResult(const ::testing::TestPartResult& result) override;

 private:
  int rank_;
  std::string test_;  // googletest holds its lock while it reports, so it cannot be asked then
};

/// Makes a test's verdict the same on all ranks, once it has ended, and watches over its time.
class Verdict : public ::testing::EmptyTestEventListener {
 public:
  explicit Verdict(Communicator ranks);
  void OnTestStart(const ::testing::TestInfo& test) override;
  void OnTestEnd(const ::testing::TestInfo& test) override;

 private:
  Communicator ranks_;
  Watchdog watchdog_;
};

}  // namespace renga::test
