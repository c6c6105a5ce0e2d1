// SPDX-License-Identifier: Apache-2.0
#include "renga/comm/environment.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "renga/core/error.hpp"
#include "renga/core/log.hpp"
#include "renga/core/text.hpp"

#include "buffers.hpp"
#include "discovery.hpp"
#include "group.hpp"
#include "hosts.hpp"
#include "job.hpp"
#include "process.hpp"
#include "shm/shm_backend.hpp"
#include "signals.hpp"

namespace renga {
namespace {

// As many as this process may run on, but no more than its part of the host's.
int default_threads(const Communicator& world) {
  const int usable = static_cast<int>(detail::here().cores.size());
  return std::clamp(world.host_cores() / world.intra_size(), 1, std::max(1, usable));
}

std::uint64_t draw_seed(const Communicator& world) {
  at::Tensor seed = detail::empty({1}, at::kLong);
  // Positive, so that it reads the same wherever it is printed or stored.
  *seed.data_ptr<std::int64_t>() = std::random_device{}() & 0x7fffffffU;
  world.broadcast(seed, 0);
  return static_cast<std::uint64_t>(*seed.data_ptr<std::int64_t>());
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

[[noreturn]] void reject_name(const std::string& name) {
  if (is_one_of(name, {"mpi", "gloo", "nccl", "pure_nccl", "dummy"})) {
    throw NotAvailable(text("communicator: ", name, ": not available in this build or job"));
  }
  throw InvalidArgument(
      text("communicator: name: expected auto, mpi, self or a name that ChainerMN has, got \"", name, '"'));
}

}  // namespace

Environment::Environment(detail::Job& job, Settings settings)
    : world_(job.world, settings), settings_(std::move(settings)), signals_(std::make_unique<detail::StopSignals>()) {
  detail::watch_over(job, world_);
  detail::Group& group = *world_.group_;
  group.watch = job.watch;
  group.id = 1;
  group.world_ranks.resize(static_cast<std::size_t>(group.size));
  std::iota(group.world_ranks.begin(), group.world_ranks.end(), 0);
  log::configure(settings_.log, world_.size() == 1 ? "" : text("[rank ", world_.rank(), '/', world_.size(), "] "));
  if (!detail::environment_variable("OMP_NUM_THREADS")) {
    set_threads(default_threads(world_));
  }
  at::manual_seed(draw_seed(world_));
}

Environment::~Environment() = default;

Communicator Environment::world() const { return world_; }

Communicator Environment::communicator(const std::string& name) const {
  if (name == "self") {
    return world_.split(-1, 0);
  }
  const bool automatic =
      is_one_of(name, {"auto", "naive", "flat", "hierarchical", "two_dimensional", "non_cuda_aware"});
  const bool here = name == "single_node" || name == "shm" || name == world_.backend_name();
  if (!automatic && !here) {
    reject_name(name);
  }
  if (name == "single_node" && world_.inter_size() != 1) {
    throw InvalidArgument(
        text("communicator: single_node: expected ranks on one host, got ", world_.inter_size(), " hosts"));
  }
  Communicator all = world_.split(0, world_.rank());
  if (name == "shm") {
    all.group_->backend = detail::share_memory(all.group_->backend, all, *all.group_->engines);
  }
  return all;
}

const Settings& Environment::settings() const { return settings_; }

void Environment::seed(std::uint64_t value) const {
  world_.require_same("seed", std::to_string(value));
  at::manual_seed(value);
}

void Environment::set_threads(int count) const {
  if (count < 1) {
    throw InvalidArgument(text("set_threads: count: expected 1 or more, got ", count));
  }
  detail::set_compute_threads(count);
}

int Environment::threads() const { return at::get_num_threads(); }

bool Environment::stop_requested() const {
  signals_->listen();
  const at::Tensor asked = detail::empty({1}, at::kLong);
  auto* const value = asked.data_ptr<std::int64_t>();
  *value = static_cast<std::int64_t>(signals_->arrived());
  world_.all_reduce(asked, ReduceOp::Max);
  if (*value != 0) {
    // A launcher asks because a rank died, too, and that one may have taken part in the question still.
    world_.group_->watch->look();
  }
  return *value != 0;
}

int run(int, char**, const std::function<void(Environment&)>& body) {
  detail::keep_memory();
  Settings settings;
  const detail::Outcome read = detail::attempt([&] { settings = Settings::from_environment(); });
  detail::Job job;
  const detail::Outcome started = detail::attempt([&] { job = detail::start_job(settings.timeout); });
  if (started.failed()) {
    detail::print_error(started.message, 0, 1);
    return started.exit_code;
  }
  const detail::Outcome outcome = read.failed() ? read : detail::attempt([&] {
    Environment environment(job, settings);
    body(environment);
  });
  return detail::end_job(job, outcome, settings.timeout);
}

}  // namespace renga
