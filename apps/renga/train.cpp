// SPDX-License-Identifier: Apache-2.0
#include "train.hpp"

#include <cstdio>
#include <filesystem>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/data/loader.hpp"
#include "renga/data/open_dataset.hpp"
#include "renga/train/image.hpp"
#include "renga/train/progress.hpp"
#include "renga/train/run_folder.hpp"
#include "renga/train/step_timer.hpp"

#include "gan_trainer.hpp"
#include "rank_zero.hpp"

namespace renga::app {
namespace {

constexpr std::int64_t kSamples = 64;
constexpr std::int64_t kSampleColumns = 8;
constexpr std::uint64_t kSampleSeed = 20;  // the same noise in every grid, whatever the run's seed

std::shared_ptr<const data::Dataset> open_data(const TrainOptions& options) {
  data::DatasetOptions wanted;
  wanted.image_size = options.image_size;
  wanted.channels = options.channels;
  wanted.seed = options.seed;
  return data::open_dataset(options.data, wanted);
}

models::DcganOptions sizes_of(const TrainOptions& options, const data::ImageShape& shape) {
  if (shape.height != shape.width || shape.height % 8 != 0) {
    throw InvalidArgument(text("dcgan: images: expected a square of a multiple of 8 pixels, got ", shape.height, "x",
                               shape.width, "; see --image-size"));
  }
  models::DcganOptions sizes;
  sizes.ch = options.ch;
  sizes.channels = shape.channels;
  sizes.bottom_width = shape.height / 8;
  return sizes;
}

data::LoaderOptions loader_options(const TrainOptions& options) {
  data::LoaderOptions wanted;
  wanted.batch_size = options.batch;
  wanted.batch_per_process = options.batch_per_process;
  wanted.seed = options.seed;
  wanted.workers = options.workers;
  wanted.dtype = options.dtype == "float64" ? at::kDouble : at::kFloat;
  return wanted;
}

DeviceMesh make_mesh(const Communicator& world, const TrainOptions& options) {
  return {world, options.mesh.empty() ? DeviceMesh::AxisSizes{{"data", world.size()}} : parse_axes(options.mesh)};
}

/// One training run: the loop and what it leaves on disk.
class Run {
 public:
  Run(Environment& environment, const TrainOptions& options)
      : options_(options),
        world_(environment.world()),
        mesh_(make_mesh(world_, options)),
        dataset_(open_data(options)),
        loader_(dataset_, mesh_, loader_options(options)),
        trainer_(mesh_, sizes_of(options, dataset_->shape()), options) {
    steps_ = options.steps.value_or(options.epochs.value_or(1) * loader_.batches_per_epoch());
    sample_noise_ = at::randn({kSamples, trainer_.generator().options.latent},
                              at::make_generator<at::CPUGeneratorImpl>(kSampleSeed));
    on_rank_zero(world_, [this] { open_folder(); });
  }

  void train() {
    timer_.start();
    while (step_ < steps_) {
      for (auto& [images, labels] : loader_) {
        finish_step(images.size(0), trainer_.step(images));
        if (step_ == steps_) {
          break;
        }
      }
    }
    save();
    if (options_.json) {
      print_json();
    }
  }

 private:
  void open_folder() {
    const auto path = options_.out.empty() ? train::RunFolder::default_path(options_.model) : options_.out;
    folder_.emplace(train::RunFolder::create(path));
    auto config = config_of(options_);
    const auto& sizes = trainer_.generator().options;
    config.emplace_back("processes", world_.size());
    config.emplace_back("generator", train::Fields{{"ch", sizes.ch},
                                                   {"latent", sizes.latent},
                                                   {"channels", sizes.channels},
                                                   {"bottom_width", sizes.bottom_width}});
    folder_->write_config(config);
    progress_.emplace(train::ProgressOptions{steps_, loader_.batch_size()});
  }

  void finish_step(std::int64_t images, const GanLosses& losses) {
    ++step_;
    losses_ = losses;
    timer_.step();
    if (folder_) {
      folder_->log({{"step", step_},
                    {"epoch", loader_.epoch()},
                    {"discriminator_loss", losses.discriminator},
                    {"generator_loss", losses.generator},
                    {"images_per_second", static_cast<double>(images) / timer_.last_seconds()}});
      progress_->update(step_, {{"discriminator", losses.discriminator}, {"generator", losses.generator}});
    }
    if (step_ % options_.sample_every == 0 || step_ == steps_) {
      const auto images_made = trainer_.sample(sample_noise_);
      if (folder_) {
        folder_->write_sample(step_, train::image_grid(images_made.to(torch::kFloat), kSampleColumns));
      }
      timer_.start();  // samples do not count as training
    }
  }

  void save() {
    std::string path;
    on_rank_zero(world_, [&] {
      path = folder_->step_folder(step_);
      std::filesystem::create_directories(path);
    });
    path = world_.broadcast_text(path, 0);
    renga::save(path + "/generator.safetensors", trainer_.generator());
    renga::save(path + "/discriminator.safetensors", trainer_.discriminator());
  }

  void print_json() {
    const auto peaks = world_.all_gather(torch::full({}, train::peak_memory_bytes(), torch::kLong));
    if (world_.rank() != 0) {
      return;
    }
    train::List memory;
    for (const auto& peak : peaks) {
      memory.emplace_back(peak.item<std::int64_t>());
    }
    const double seconds = timer_.median_seconds();
    const auto line = train::json_line(
        {{"images_per_second", seconds > 0 ? static_cast<double>(loader_.batch_size()) / seconds : 0.0},
         {"step_seconds", seconds},
         {"peak_memory_bytes", memory},
         {"losses", train::Fields{{"discriminator", losses_.discriminator}, {"generator", losses_.generator}}},
         {"ranks", world_.size()},
         {"mesh", mesh_.text()}});
    progress_.reset();
    std::printf("%s\n", line.c_str());
  }

  const TrainOptions& options_;
  Communicator world_;
  DeviceMesh mesh_;
  std::shared_ptr<const data::Dataset> dataset_;
  data::Loader loader_;
  GanTrainer trainer_;
  torch::Tensor sample_noise_;
  std::optional<train::RunFolder> folder_;  // rank 0 only
  std::optional<train::Progress> progress_;
  train::StepTimer timer_;
  GanLosses losses_;
  std::int64_t steps_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace

void train_dcgan(Environment& environment, const TrainOptions& options) {
  environment.seed(options.seed);
  if (options.threads) {
    environment.set_threads(*options.threads);
  }
  Run(environment, options).train();
}

}  // namespace renga::app
