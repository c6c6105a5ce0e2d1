// SPDX-License-Identifier: Apache-2.0
#include "bench_train.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/train/load_meter.hpp"
#include "renga/train/operator_times.hpp"
#include "renga/train/step_timer.hpp"
#include "renga/train/value.hpp"

#include "gan_trainer.hpp"

namespace renga::app {
namespace {

constexpr std::uint64_t kSeed = 0;
constexpr int kWarmUp = 2;
constexpr int kAttempts = 5;  // at a sample, until nothing disturbs it
constexpr int kTries = 2;     // rounds in all, for each round asked for

/// One of those that take turns.
struct Contestant {
  std::string name;
  int ranks;                   ///< 1: rank 0 alone, the others wait
  std::function<void()> step;  ///< empty on ranks that do not take part
  std::vector<double> seconds{};
};

/// Takes samples, and knows which are worth nothing because other programs ran meanwhile.
class Sampler {
 public:
  Sampler(Communicator world, double quiet) : world_(std::move(world)), quiet_(quiet) {}

  /// Seconds of one step on rank 0, negative if it was disturbed; the same on every rank. Collective.
  double take(const Contestant& contestant) const {
    torch::manual_seed(kSeed);  // steps of rank 0 alone leave its generator in another state than the others'
    world_.barrier();
    train::LoadMeter meter;
    meter.start();
    if (contestant.step) {
      contestant.step();
    }
    world_.barrier();
    const train::Load load = meter.stop();
    auto sums = torch::tensor({load.own}, torch::kDouble);
    world_.all_reduce(sums);
    auto verdict = torch::tensor({load.elapsed, load.machine - sums.item<double>()}, torch::kDouble);
    world_.broadcast(verdict, 0);
    const double elapsed = verdict[0].item<double>();
    return verdict[1].item<double>() > quiet_ * elapsed ? -elapsed : elapsed;
  }

 private:
  Communicator world_;
  double quiet_;
};

class Bench {
 public:
  Bench(Environment& environment, const BenchOptions& options)
      : options_(options), world_(environment.world()), sampler_(world_, options.quiet) {
    sizes_.ch = options.train.ch;
    sizes_.bottom_width = options.train.image_size.value_or(32) / 8;
    const auto dtype = options.train.dtype == "float64" ? torch::kDouble : torch::kFloat;
    const std::int64_t side = 8 * sizes_.bottom_width;
    require_rows_for_all(*options.train.batch);
    images_ = torch::rand({*options.train.batch, 3, side, side}, dtype) * 2 - 1;
    add_plain("plain LibTorch, NCHW", at::MemoryFormat::Contiguous);
    add_plain("plain LibTorch, channels_last", at::MemoryFormat::ChannelsLast);
    add_renga("renga, 1 process", Communicator::self(world_.settings()), 1);
    if (world_.size() > 1) {
      add_bound();
      add_renga(text("renga, ", world_.size(), " processes"), world_, world_.size());
    }
  }

  void run() {
    for (const auto& contestant : contestants_) {
      for (int i = 0; i < kWarmUp; ++i) {
        sampler_.take(contestant);
      }
    }
    std::int64_t tries = 0;
    for (; rounds_ < options_.rounds && tries < kTries * options_.rounds; ++tries) {
      take_round();
    }
    if (rounds_ == 0) {
      throw Error(text("bench: expected ", options_.rounds, " undisturbed rounds, got 0 of ", tries,
                       ": other programs used the cores; see --quiet"));
    }
    print();
    if (options_.operators) {
      print_operators();
    }
  }

 private:
  void require_rows_for_all(std::int64_t batch_size) const {
    if (batch_size < world_.size()) {
      throw UsageError(text("--batch: expected at least ", world_.size(), " images for ", world_.size(),
                            " processes, got ", batch_size));
    }
  }

  void add_plain(const std::string& name, at::MemoryFormat order) {
    std::function<void()> step;
    if (world_.rank() == 0) {
      auto trainer = std::make_shared<GanTrainer>(order, sizes_, options_.train);
      step = [trainer, images = images_.contiguous(order)] { trainer->step(images); };
    }
    contestants_.push_back({name, 1, step});
  }

  void add_renga(const std::string& name, const Communicator& ranks, int count) {
    torch::manual_seed(kSeed);
    std::function<void()> step;
    if (count > 1 || world_.rank() == 0) {
      const DeviceMesh mesh(ranks, {{"data", count}});
      auto trainer = std::make_shared<GanTrainer>(mesh, sizes_, options_.train);
      step = [trainer, images = shard(images_, mesh, batch(mesh))] { trainer->step(images); };
    }
    contestants_.push_back({name, count, step});
  }

  // What the machine allows: every process trains on its part of the batch and never hears of the others.
  void add_bound() {
    torch::manual_seed(kSeed);
    const DeviceMesh mesh(Communicator::self(world_.settings()), {{"data", 1}});
    auto trainer = std::make_shared<GanTrainer>(mesh, sizes_, options_.train);
    const auto part = images_.tensor_split(world_.size())[static_cast<std::size_t>(world_.rank())];
    const auto own = shard(part, mesh, batch(mesh));
    contestants_.push_back(
        {text(world_.size(), " without communication"), world_.size(), [trainer, own] { trainer->step(own); }});
  }

  // One sample of each, in an order that turns; kept only if none was disturbed, so that they form pairs.
  void take_round() {
    std::vector<double> seconds(contestants_.size());
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(rounds_)) % contestants_.size();
      for (int attempt = 0; attempt < kAttempts && seconds[turn] <= 0; ++attempt) {
        seconds[turn] = sampler_.take(contestants_[turn]);
        rejected_ += seconds[turn] < 0 ? 1 : 0;
      }
      if (seconds[turn] < 0) {
        return;
      }
    }
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      contestants_[i].seconds.push_back(seconds[i]);
    }
    ++rounds_;
  }

  // Median over rounds of how many times faster `a` is than `b`.
  static double times_faster(const Contestant& a, const Contestant& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.seconds.size(); ++i) {
      ratios.push_back(b.seconds[i] / a.seconds[i]);
    }
    return train::median(ratios);
  }

  void print() const {
    if (world_.rank() != 0) {
      return;
    }
    const auto images = static_cast<double>(*options_.train.batch);
    std::printf(
        "DCGAN ch %lld, batch %lld, %s, %d thread(s) a process; medians of %lld rounds, %lld samples rejected\n\n",
        static_cast<long long>(sizes_.ch), static_cast<long long>(*options_.train.batch), options_.train.dtype.c_str(),
        torch::get_num_threads(), static_cast<long long>(rounds_), static_cast<long long>(rejected_));
    std::printf("%-32s %9s %9s  %s\n", "", "seconds", "images/s", "speed against each line above");
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      const double seconds = train::median(contestants_[i].seconds);
      std::printf("%-32s %9.4f %9.1f ", contestants_[i].name.c_str(), seconds, seconds > 0 ? images / seconds : 0.0);
      for (std::size_t j = 0; j < i; ++j) {
        std::printf(" %6.3f", times_faster(contestants_[i], contestants_[j]));
      }
      std::printf("\n");
    }
    if (options_.train.json) {
      print_json();
    }
  }

  void print_json() const {
    train::Fields fields;
    for (const auto& contestant : contestants_) {
      fields.emplace_back(contestant.name, train::median(contestant.seconds));
    }
    std::printf("%s\n", train::json_line({{"seconds", fields}, {"rounds", rounds_}, {"rejected", rejected_}}).c_str());
  }

  // Milliseconds of a step by operator, one column for each contestant.
  void print_operators() const {
    std::vector<std::map<std::string, double>> columns(contestants_.size());
    for (std::size_t i = 0; i < contestants_.size(); ++i) {
      train::OperatorTimes times;
      sampler_.take(contestants_[i]);
      for (const auto& time : times.finish()) {
        columns[i][time.name] = 1e3 * time.self_seconds;
      }
    }
    if (world_.rank() == 0) {
      print_columns(columns);
    }
  }

  static void print_columns(const std::vector<std::map<std::string, double>>& columns) {
    constexpr std::size_t kRows = 30;
    std::map<std::string, double> largest;
    std::printf("\nmilliseconds of one step spent in each operator itself, columns as the lines above\n\n%-44s", "all");
    for (const auto& column : columns) {
      const auto add = [](double sum, const auto& entry) { return sum + entry.second; };
      std::printf(" %9.2f", std::accumulate(column.begin(), column.end(), 0.0, add));
    }
    std::printf("\n");
    for (const auto& column : columns) {
      for (const auto& [name, time] : column) {
        largest[name] = std::max(largest[name], time);
      }
    }
    std::vector<std::pair<double, std::string>> rows;
    for (const auto& [name, time] : largest) {
      rows.emplace_back(time, name);
    }
    std::sort(rows.rbegin(), rows.rend());
    rows.resize(std::min(rows.size(), kRows));
    for (const auto& [unused, name] : rows) {
      std::printf("%-44s", name.c_str());
      for (const auto& column : columns) {
        const auto found = column.find(name);
        std::printf(" %9.2f", found == column.end() ? 0.0 : found->second);
      }
      std::printf("\n");
    }
  }

  const BenchOptions& options_;
  Communicator world_;
  Sampler sampler_;
  models::DcganOptions sizes_;
  torch::Tensor images_;
  std::vector<Contestant> contestants_;
  std::int64_t rounds_ = 0;
  std::int64_t rejected_ = 0;
};

}  // namespace

void bench_train(Environment& environment, const BenchOptions& options) {
  environment.seed(options.train.seed);
  environment.set_threads(options.train.threads.value_or(1));
  Bench(environment, options).run();
}

}  // namespace renga::app
