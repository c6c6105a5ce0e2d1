// SPDX-License-Identifier: Apache-2.0
// A program that ends in the way its argument says; failure_test.sh looks at what becomes of the job.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include <ATen/ATen.h>

#include "renga/comm/environment.hpp"
#include "renga/core/error.hpp"

namespace {

void wait_for_all(const renga::Communicator& world) {
  const at::Tensor tensor = at::ones({10});
  world.all_reduce(tensor);
}

void one_throws(const renga::Communicator& world) {
  if (world.rank() == world.size() - 1) {
    throw renga::Error("one: this rank alone");
  }
  wait_for_all(world);
}

void each_throws_its_own(const renga::Communicator& world) {
  throw renga::Error("each: number " + std::to_string(world.rank()));
}

void one_throws_at_the_end(const renga::Communicator& world) {
  wait_for_all(world);
  if (world.rank() == 1) {
    throw std::runtime_error("end: after the last collective");
  }
}

void one_never_comes(const renga::Communicator& world) {
  if (world.rank() == world.size() - 1) {
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  wait_for_all(world);
}

void drop_a_message(const renga::Communicator& world) {
  if (world.rank() == 0 && world.size() > 1) {
    world.receive_async(at::zeros({10}), 1, 9);  // nobody sends it
  }
  wait_for_all(world);
}

void body(const std::string& mode, const renga::Environment& environment) {
  const renga::Communicator world = environment.world();
  if (mode == "good") {
    wait_for_all(world);
  } else if (mode == "one") {
    one_throws(world);
  } else if (mode == "all") {
    throw renga::Error("all: every rank alike");
  } else if (mode == "each") {
    each_throws_its_own(world);
  } else if (mode == "end") {
    one_throws_at_the_end(world);
  } else if (mode == "late") {
    one_never_comes(world);
  } else if (mode == "drop") {
    drop_a_message(world);
  } else if (mode == "usage") {
    throw renga::UsageError("usage: expected something else");
  } else if (mode == "torch") {
    TORCH_CHECK(false, "torch: has a backtrace");
  } else if (mode == "mismatch") {
    world.all_reduce(at::ones({world.rank() + 1}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  return renga::run(argc, argv, [&](renga::Environment& environment) {
    std::puts("started");
    body(mode, environment);
  });
}
