// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include <CLI/CLI.hpp>

#include "renga/train/value.hpp"

#include "models/gan_loss.hpp"

namespace renga::app {

enum class Noise { Normal, Uniform };

/// How the discriminator sees a step's real and made images.
enum class RealAndMade {
  Together,  ///< as one batch: one pass, but batch norm's statistics tell which is which
  Apart,     ///< as two batches, each normalized by itself, as the generator's step sees made ones
};

/// What `renga train` was asked for.
struct TrainOptions {
  std::string model;
  std::string data = "synthetic";
  std::optional<std::int64_t> image_size;
  std::optional<std::int64_t> channels;
  std::string out;
  std::string resume;  ///< run folder to go on with
  std::string mesh;
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> batch_per_process;
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> epochs;
  std::uint64_t seed = 0;
  std::string dtype = "float32";
  std::optional<int> threads;
  std::int64_t ch = 512;
  Noise z = Noise::Normal;
  models::GanLoss loss = models::GanLoss::Softplus;
  RealAndMade real_and_made = RealAndMade::Together;
  double learning_rate = 2e-4;
  std::int64_t sample_every = 500;
  std::int64_t save_every = 1000;
  int workers = 1;
  bool json = false;
  std::set<std::string> given;  ///< names of the options on the command line, "--seed"; "MODEL"
};

/// What `renga sample` was asked for.
struct SampleOptions {
  std::string run;
  std::optional<std::int64_t> step;
  std::int64_t count = 64;
  std::uint64_t seed = 0;
  std::string out;
};

/// What `renga bench train` was asked for.
struct BenchOptions {
  TrainOptions train;
  std::int64_t rounds = 20;  ///< accepted samples of each contestant
  double quiet = 0.08;       ///< a sample is rejected when others used more than this part of a core
  bool operators = false;
};

void add_bench_options(CLI::App& command, BenchOptions& options);

void add_train_options(CLI::App& command, TrainOptions& options);
void add_sample_options(CLI::App& command, SampleOptions& options);

/// After parsing: notes which options were given. @throws UsageError for what CLI11 cannot check
void finish_train_options(const CLI::App& command, TrainOptions& options);

/// For config.json.
train::Fields config_of(const TrainOptions& options);

/// The options that a config.json was written from; those that it does not hold have their defaults.
/// @throws FileError naming `path` if the text is not a run's configuration
TrainOptions options_from_config(const std::string& path, const std::string& json_text);

}  // namespace renga::app
