// SPDX-License-Identifier: Apache-2.0
// The main program of tests that run on several ranks.
#include <cstdio>

#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "tests/support/listeners.hpp"
#include "tests/support/world.hpp"

namespace renga::test {
namespace {

// gtest gives a test no way to be handed anything.
Environment* current = nullptr;

int run_tests(Environment& environment) {
  current = &environment;
  const Communicator world = environment.world();
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (world.rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(world.rank()));
  }
  auto* const verdict = new Verdict(world.split(0, world.rank()));
  listeners.Append(verdict);
  int failed = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fputs("no test was run\n", stderr);
    failed = 1;
  }
  delete listeners.Release(verdict);  // its communicator ends before MPI does
  current = nullptr;
  return failed;
}

}  // namespace

Environment& environment() {
  if (current == nullptr) {
    throw Error("test: environment: expected inside a running test");
  }
  return *current;
}

Communicator world() { return environment().world(); }

}  // namespace renga::test

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int failed = 1;
  const int ended =
      renga::run(argc, argv, [&](renga::Environment& environment) { failed = renga::test::run_tests(environment); });
  return ended != 0 ? ended : failed;
}
