// SPDX-License-Identifier: Apache-2.0
#include "gan_checkpoints.hpp"

#include <cmath>
#include <filesystem>

#include <ATen/Context.h>
#include <nlohmann/json.hpp>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/checkpoint/checkpoint.hpp"
#include "renga/core/error.hpp"
#include "renga/core/log.hpp"
#include "renga/core/text.hpp"
#include "renga/train/value.hpp"

#include "rank_zero.hpp"

namespace renga::app {
namespace {

using Json = nlohmann::json;

constexpr const char* kStateFolder = "/state";
constexpr const char* kStateFile = "/state/run.json";
constexpr const char* kRandomFile = "/state/random.safetensors";
constexpr const char* kRandomName = "cpu";

at::Generator generator() { return at::globalContext().defaultGenerator(at::kCPU); }

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directory(path, error);
  if (error) {
    throw FileError(text("checkpoint: ", path, ": cannot make the folder: ", error.message()));
  }
}

void write_state(const std::string& path, const RunState& state) {
  AtomicFile file(path);
  file.write(train::json_text({{"step", state.step},
                               {"epoch", state.position.epoch},
                               {"batch", state.position.batch},
                               {"discriminator_loss", state.losses.discriminator},
                               {"generator_loss", state.losses.generator}}));
  file.commit();
}

// A loss that was not a number is null in JSON.
double number(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

RunState read_state(const std::string& path, const std::string& content) {
  try {
    const Json json = Json::parse(content);
    return {json.at("step"),
            {json.at("epoch"), json.at("batch")},
            {number(json.at("discriminator_loss")), number(json.at("generator_loss"))}};
  } catch (const Json::exception& error) {
    throw FileError(text("checkpoint: ", path, ": ", error.what()));
  }
}

void load_random(const Communicator& world, const std::string& path) {
  const at::Tensor state = generator().get_state();
  on_rank_zero(world, [&] {
    const NamedTensors tensors = load_tensors(path);
    const auto found = tensors.find(kRandomName);
    if (found == tensors.end() || found->second.sizes() != state.sizes() || found->second.dtype() != state.dtype()) {
      throw FileError(text("checkpoint: ", path, ": not the random generator's state of this version of LibTorch"));
    }
    state.copy_(found->second);
  });
  world.broadcast(state, 0);
  generator().set_state(state);
}

}  // namespace

std::int64_t newest_checkpoint(const CheckpointFolder& folder) {
  const WholeCheckpoint found = folder.newest_whole();
  for (const auto& damage : found.damaged) {
    log::warning(text(damage, "; ", CheckpointFolder::step_name(found.step), " is used instead"));
  }
  return found.step;
}

void GanCheckpoints::save(const GanTrainer& trainer, const RunState& state) const {
  std::string folder;
  on_rank_zero(world_, [&] {
    folder = folder_.begin(state.step);
    make_folder(folder + kStateFolder);
  });
  folder = world_.broadcast_text(folder, 0);
  try {
    write(folder, trainer, state);
  } catch (const std::exception&) {
    if (world_.rank() == 0) {
      folder_.discard(state.step);  // what it holds may be what fills the disk
    }
    throw;
  }
}

void GanCheckpoints::write(const std::string& folder, const GanTrainer& trainer, const RunState& state) const {
  trainer.save(folder);
  save_tensors(folder + kRandomFile, {{kRandomName, generator().get_state()}}, world_);
  on_rank_zero(world_, [&] {
    write_state(folder + kStateFile, state);
    folder_.commit(state.step);
  });
}

std::int64_t GanCheckpoints::choose() const {
  std::string step;
  on_rank_zero(world_, [&] {
    folder_.remove_leftovers();
    step = std::to_string(newest_checkpoint(folder_));
  });
  return std::stoll(world_.broadcast_text(step, 0));
}

RunState GanCheckpoints::load_newest(GanTrainer& trainer) const {
  const std::string folder = folder_.path(choose());
  trainer.load(folder);
  load_random(world_, folder + kRandomFile);
  return read_state(folder + kStateFile, read_on_rank_zero(world_, folder + kStateFile));
}

}  // namespace renga::app
