// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>

#include <ATen/CPUGeneratorImpl.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/checkpoint/checkpoint_folder.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/train/image.hpp"

#include "gan_checkpoints.hpp"
#include "models/dcgan.hpp"
#include "rank_zero.hpp"

namespace renga::app {
namespace {

struct RunConfig {
  models::DcganOptions sizes;
  std::string noise;
  std::string dtype;
};

RunConfig read_config(const std::string& path) {
  std::ifstream in(path);
  if (!in) {
    throw FileError(text(path, ": cannot be read; is this a run folder?"));
  }
  try {
    const auto json = nlohmann::json::parse(in);
    if (json.at("model") != "dcgan") {
      throw FileError(text(path, ": model: expected dcgan, got ", json.at("model").dump()));
    }
    const auto& sizes = json.at("generator");
    return {{sizes.at("ch"), sizes.at("latent"), sizes.at("channels"), sizes.at("bottom_width")},
            json.at("z"),
            json.at("dtype")};
  } catch (const nlohmann::json::exception& error) {
    throw FileError(text(path, ": not a run's configuration: ", error.what()));
  }
}

std::string weights_folder(const SampleOptions& options) {
  const CheckpointFolder checkpoints(options.run);
  if (!options.step) {
    return checkpoints.path(newest_checkpoint(checkpoints));
  }
  checkpoints.verify(*options.step);
  return checkpoints.path(*options.step);
}

void write_samples(const SampleOptions& options) {
  const auto config = read_config(options.run + "/config.json");
  const auto folder = weights_folder(options);
  models::Generator generator(config.sizes);
  generator.to(config.dtype == "float64" ? torch::kDouble : torch::kFloat);
  load(folder + "/generator.safetensors", generator);
  generator.eval();
  const torch::NoGradGuard no_grad;
  const auto random = at::make_generator<at::CPUGeneratorImpl>(options.seed);
  const std::vector<std::int64_t> sizes{options.count, config.sizes.latent};
  const auto z = config.noise == "uniform" ? at::rand(sizes, random) * 2 - 1 : at::randn(sizes, random);
  const auto images = generator.forward(z.to(generator.linear->weight.dtype())).to(torch::kFloat);
  const auto columns = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(options.count))));
  const auto out = options.out.empty() ? options.run + "/sample.png" : options.out;
  train::write_png(out, train::image_grid(images, columns));
  std::printf("%s\n", out.c_str());
}

}  // namespace

void sample_run(Environment& environment, const SampleOptions& options) {
  on_rank_zero(environment.world(), [&options] { write_samples(options); });
}

}  // namespace renga::app
