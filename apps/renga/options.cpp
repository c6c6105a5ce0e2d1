// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "renga/core/error.hpp"

#include "option_names.hpp"

namespace renga::app {
namespace {

// A whole number of at least 1; CLI11's PositiveNumber would take 0.5 for a float and report it oddly.
CLI::Validator at_least(std::int64_t least) {
  return {[least](std::string& text) -> std::string {
            std::int64_t value = 0;
            const bool whole = CLI::detail::lexical_cast(text, value);
            return whole && value >= least
                       ? ""
                       : "expected a whole number of at least " + std::to_string(least) + ", got " + text;
          },
          "INT >= " + std::to_string(least)};
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& o) {
  command.add_option("MODEL", o.model, "what to train: dcgan; not needed with --resume")
      ->check(CLI::IsMember({"dcgan"}));
  command
      .add_option("--data", o.data, "fashion-mnist, synthetic, or a folder with IDX files or CIFAR-10's binary batches")
      ->capture_default_str();
  command.add_option("--image-size", o.image_size, "height and width of the images (32)")->check(at_least(8));
  command.add_option("--channels", o.channels, "1 (grey) or 3 (colour); default: as the data")
      ->check(CLI::IsMember({1, 3}));
  command.add_option("--out", o.out, "run folder; must be new or empty (runs/MODEL-DATE-TIME)");
  command.add_option("--resume", o.resume,
                     "run folder to go on with, from its newest whole checkpoint, on any number of processes; other "
                     "options are the run's own");
  command.add_option("--mesh", o.mesh, "how ranks are arranged, such as data=2 (all ranks on data)");
  auto* batch = command.add_option("--batch", o.batch, "images of a batch over all processes: strong scaling (64)");
  auto* each = command.add_option("--batch-per-process", o.batch_per_process,
                                  "images of a batch for each process: weak scaling");
  batch->check(at_least(1))->excludes(each);
  each->check(at_least(1));
  auto* steps = command.add_option("--steps", o.steps, "steps to train, in total, also with --resume");
  auto* epochs =
      command.add_option("--epochs", o.epochs, "passes over the data to train, in total, also with --resume (1)");
  steps->check(at_least(1))->excludes(epochs);
  epochs->check(at_least(1));
  command.add_option("--seed", o.seed, "of weights, noise and the order of the data")->capture_default_str();
  command.add_option("--dtype", o.dtype, "of all computation")
      ->check(CLI::IsMember({"float32", "float64"}))
      ->capture_default_str();
  command.add_option("--threads", o.threads, "compute threads of each process (cores / processes)")->check(at_least(1));
  command.add_option("--ch,--width", o.ch, "channels of the generator's widest layer; the discriminator has half")
      ->check(at_least(16))
      ->capture_default_str();
  command.add_option("--z", o.z, "noise: normal or uniform (normal)")
      ->transform(CLI::CheckedTransformer(noise_names()));
  command.add_option("--loss", o.loss, "softplus or hinge (softplus)")
      ->transform(CLI::CheckedTransformer(loss_names()));
  command
      .add_option("--real-and-made", o.real_and_made,
                  "batches of the discriminator's step: together (one pass, for speed) or apart (learns "
                  "better, as batch norm then cannot tell them apart) (together)")
      ->transform(CLI::CheckedTransformer(real_and_made_names()));
  command.add_option("--lr", o.learning_rate, "learning rate of both Adams")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--sample-every", o.sample_every, "steps between sample grids; the last step always has one")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("--save-every", o.save_every, "steps between checkpoints; the last step always has one")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("--workers", o.workers, "threads that read the data ahead")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_flag("--json", o.json, "print one line of JSON with the results at the end");
}

void add_bench_options(CLI::App& command, BenchOptions& o) {
  command.add_option("MODEL", o.train.model, "what to train: dcgan")->required()->check(CLI::IsMember({"dcgan"}));
  o.train.batch = 64;
  command.add_option("--batch", o.train.batch, "images of a batch over all processes")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("--ch,--width", o.train.ch, "channels of the generator's widest layer")
      ->check(at_least(16))
      ->capture_default_str();
  command.add_option("--image-size", o.train.image_size, "height and width of the images (32)")->check(at_least(8));
  command.add_option("--dtype", o.train.dtype, "of all computation")
      ->check(CLI::IsMember({"float32", "float64"}))
      ->capture_default_str();
  command.add_option("--threads", o.train.threads, "compute threads of each process (1)")->check(at_least(1));
  command.add_option("--rounds", o.rounds, "samples of each contestant")->check(at_least(1))->capture_default_str();
  command.add_option("--quiet", o.quiet, "reject a sample when other programs used more than this part of a core")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_flag("--operators", o.operators, "also a table of the time each operator takes");
  command.add_flag("--json", o.train.json, "print one line of JSON with the results at the end");
}

void add_sample_options(CLI::App& command, SampleOptions& o) {
  command.add_option("RUN", o.run, "run folder of a training run")->required();
  command.add_option("--step", o.step, "which weights (the newest)")->check(at_least(0));
  command.add_option("--count", o.count, "number of images")->check(at_least(1))->capture_default_str();
  command.add_option("--seed", o.seed, "of the noise")->capture_default_str();
  command.add_option("--out", o.out, "PNG file (RUN/sample.png)");
}

void finish_train_options(const CLI::App& command, TrainOptions& o) {
  for (const auto* option : command.get_options()) {
    if (option->count() > 0) {
      o.given.insert(option->get_name());
    }
  }
  if (o.model.empty() && o.resume.empty()) {
    throw UsageError("MODEL is required, unless a run is resumed (see renga train --help)");
  }
}

}  // namespace renga::app
