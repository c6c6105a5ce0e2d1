// SPDX-License-Identifier: Apache-2.0
#include "train.hpp"

#include <cstdio>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>

#include "renga/core/error.hpp"
#include "renga/core/log.hpp"
#include "renga/core/text.hpp"
#include "renga/data/loader.hpp"
#include "renga/data/open_dataset.hpp"
#include "renga/train/image.hpp"
#include "renga/train/progress.hpp"
#include "renga/train/run_folder.hpp"
#include "renga/train/step_timer.hpp"

#include "gan_checkpoints.hpp"
#include "gan_trainer.hpp"
#include "rank_zero.hpp"
#include "resume.hpp"

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
      : environment_(environment),
        options_(options),
        world_(environment.world()),
        mesh_(make_mesh(world_, options)),
        dataset_(open_data(options)),
        loader_(dataset_, mesh_, loader_options(options)),
        trainer_(mesh_, sizes_of(options, dataset_->shape()), options) {
    steps_ = options.steps.value_or(options.epochs.value_or(1) * loader_.batches_per_epoch());
    sample_noise_ = at::randn({kSamples, trainer_.generator().options.latent},
                              at::make_generator<at::CPUGeneratorImpl>(kSampleSeed));
    on_rank_zero(world_, [this] { options_.resume.empty() ? start_folder() : open_folder(); });
    path_ = world_.broadcast_text(folder_ ? folder_->path() : "", 0);
    if (!options_.resume.empty()) {
      go_on();
    }
    if (folder_) {
      progress_.emplace(train::ProgressOptions{steps_, loader_.batch_size()});
    }
  }

  void train() {
    if (step_ >= steps_) {
      say(text("run ", path_, " is at step ", step_, " already, of ", steps_, "; nothing is left to do"));
    }
    timer_.start();
    while (step_ < steps_ && !is_stopped_) {
      train_epoch();
    }
    if (saved_step_ != step_) {
      save();
    }
    if (is_stopped_) {
      say(text("stopped at step ", step_, "; go on with: renga train ", options_.model, " --resume ", path_,
               length_text()));
    }
    if (options_.json) {
      print_json();
    }
  }

 private:
  void start_folder() {
    folder_.emplace(
        train::RunFolder::create(options_.out.empty() ? train::RunFolder::default_path(options_.model) : options_.out));
    auto config = config_of(options_);
    const auto& sizes = trainer_.generator().options;
    config.emplace_back("global_batch", loader_.batch_size());
    config.emplace_back("processes", world_.size());
    config.emplace_back("generator", train::Fields{{"ch", sizes.ch},
                                                   {"latent", sizes.latent},
                                                   {"channels", sizes.channels},
                                                   {"bottom_width", sizes.bottom_width}});
    folder_->write_config(config);
  }

  void open_folder() { folder_.emplace(train::RunFolder::open(options_.resume)); }

  // Everything as it was after the step of the checkpoint.
  void go_on() {
    const RunState state = GanCheckpoints(world_, path_).load_newest(trainer_);
    step_ = saved_step_ = state.step;
    losses_ = state.losses;
    loader_.seek(state.position.epoch, state.position.batch);
    on_rank_zero(world_, [this] { folder_->cut_log(step_); });
  }

  void train_epoch() {
    for (auto& [images, labels] : loader_) {
      finish_step(images.size(0), trainer_.step(images));
      // Asked also after the last step: what asks once has to go on asking.
      is_stopped_ = environment_.stop_requested() && step_ < steps_;
      if (step_ == steps_ || is_stopped_) {
        break;
      }
    }
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
      sample();
    }
    if (step_ % options_.save_every == 0 && step_ < steps_) {
      try_to_save();
    }
  }

  void sample() {
    const auto images = trainer_.sample(sample_noise_);
    if (folder_) {
      folder_->write_sample(step_, train::image_grid(images.to(torch::kFloat), kSampleColumns));
    }
    timer_.start();  // samples do not count as training
  }

  void save() {
    GanCheckpoints(world_, path_).save(trainer_, {step_, loader_.position(), losses_});
    saved_step_ = step_;
    timer_.start();
  }

  // The disk may be full for a while; the last checkpoint is saved without this mercy.
  void try_to_save() {
    try {
      save();
    } catch (const FileError& error) {
      if (folder_) {
        log::warning(text(error.what(), "; there is no checkpoint of step ", step_,
                          ", training goes on and saves again ", options_.save_every, " steps later"));
      }
    }
  }

  // Of a run that was started here, the configuration has it.
  std::string length_text() const {
    if (options_.resume.empty() || !(options_.given.contains("--steps") || options_.given.contains("--epochs"))) {
      return "";
    }
    return options_.steps ? text(" --steps ", *options_.steps) : text(" --epochs ", *options_.epochs);
  }

  void say(const std::string& message) {
    if (folder_) {
      progress_.reset();  // ends its line
      std::fprintf(stderr, "%s\n", message.c_str());
    }
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

  Environment& environment_;
  TrainOptions options_;
  Communicator world_;
  DeviceMesh mesh_;
  std::shared_ptr<const data::Dataset> dataset_;
  data::Loader loader_;
  GanTrainer trainer_;
  torch::Tensor sample_noise_;
  std::optional<train::RunFolder> folder_;  // rank 0 only
  std::string path_;                        // of the folder, on every rank
  std::optional<train::Progress> progress_;
  train::StepTimer timer_;
  GanLosses losses_;
  std::int64_t steps_ = 0;
  std::int64_t step_ = 0;
  std::int64_t saved_step_ = 0;
  bool is_stopped_ = false;
};

}  // namespace

void train_dcgan(Environment& environment, const TrainOptions& given) {
  const auto options = given.resume.empty() ? given : resumed_options(environment.world(), given);
  environment.seed(options.seed);
  if (options.threads) {
    environment.set_threads(*options.threads);
  }
  Run(environment, options).train();
}

}  // namespace renga::app
