// SPDX-License-Identifier: Apache-2.0
#include "tests/support/listeners.hpp"

#include <cstdio>
#include <string>

#include "renga/core/text.hpp"

namespace renga::test {
namespace {

constexpr std::chrono::seconds kLimit{100};

std::string name_of(const ::testing::TestInfo& test) { return text(test.test_suite_name(), '.', test.name()); }

}  // namespace

void FailurePrinter::OnTestStart(const ::testing::TestInfo& test) { test_ = name_of(test); }

void FailurePrinter::OnTestPartResult(const ::testing::TestPartResult& result) {
  if (!result.failed()) {
    return;
  }
  const std::string line =
      text("[rank ", rank_, "] ", test_, ": ", result.file_name() == nullptr ? "unknown file" : result.file_name(), ':',
           result.line_number(), ": ", result.message(), '\n');
  std::fputs(line.c_str(), stderr);
}

Verdict::Verdict(Communicator ranks) : ranks_(std::move(ranks)), watchdog_(ranks_.rank(), kLimit) {}

void Verdict::OnTestStart(const ::testing::TestInfo& test) { watchdog_.start(name_of(test)); }

void Verdict::OnTestEnd(const ::testing::TestInfo& test) {
  const bool failed = test.result()->Failed();
  const std::vector<std::string> verdicts = ranks_.all_gather_text(text(name_of(test), failed ? " failed" : " passed"));
  watchdog_.stop();
  for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
    if (!failed && verdicts[rank] != name_of(test) + " passed") {
      ADD_FAILURE() << "on rank " << rank << ": " << verdicts[rank];
    }
  }
}

}  // namespace renga::test
