// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <CLI/CLI.hpp>

#include "renga/comm/environment.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/ops/ops.hpp"

#include "bench_train.hpp"
#include "hostfile.hpp"
#include "options.hpp"
#include "sample.hpp"
#include "train.hpp"

namespace renga::app {
namespace {

void run_command(Environment& environment, int argc, char** argv) {
  TrainOptions train_options;
  SampleOptions sample_options;
  BenchOptions bench_options;
  HostfileOptions hostfile_options;
  CLI::App app("renga: distributed training for LibTorch", "renga");
  app.set_version_flag("--version", "renga " RENGA_VERSION);
  app.require_subcommand(1);
  auto* train = app.add_subcommand("train", "train a model; under mpiexec, on several processes");
  auto* sample = app.add_subcommand("sample", "make images with a trained generator");
  auto* bench = app.add_subcommand("bench", "measure speed");
  auto* bench_steps = bench->add_subcommand("train", "training steps: plain LibTorch, one process, all processes");
  bench->require_subcommand(1);
  auto* hostfile = app.add_subcommand("hostfile", "the hosts of a cluster's job, as a file for mpiexec");
  add_hostfile_options(*hostfile, hostfile_options);
  add_bench_options(*bench_steps, bench_options);
  add_train_options(*train, train_options);
  add_sample_options(*sample, sample_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {  // --help and --version
    if (environment.world().rank() == 0) {
      app.exit(answered);
    }
    return;
  } catch (const CLI::ParseError& error) {
    throw UsageError(text(error.what(), " (see renga --help)"));
  }
  if (train->parsed()) {
    finish_train_options(*train, train_options);
    train_dcgan(environment, train_options);
  } else if (bench->parsed()) {
    bench_train(environment, bench_options);
  } else if (hostfile->parsed()) {
    write_hostfile(environment, hostfile_options);
  } else {
    sample_run(environment, sample_options);
  }
}

}  // namespace
}  // namespace renga::app

int main(int argc, char** argv) {
  return renga::run(
      argc, argv, [argc, argv](renga::Environment& environment) { renga::app::run_command(environment, argc, argv); });
}
