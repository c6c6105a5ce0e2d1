// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "renga/checkpoint/checkpoint_folder.hpp"
#include "renga/comm/communicator.hpp"
#include "renga/data/loader.hpp"

#include "gan_trainer.hpp"

namespace renga::app {

/// Where a run is, beside its weights, optimizers and random numbers.
struct RunState {
  std::int64_t step = 0;
  data::LoaderPosition position;
  GanLosses losses;
};

/// Checkpoints of a GAN's run:
///
///     step-NNNNNNNN/{generator,discriminator}.safetensors
///     step-NNNNNNNN/state/{generator,discriminator}_optimizer.safetensors
///     step-NNNNNNNN/state/random.safetensors
///     step-NNNNNNNN/state/run.json
///     step-NNNNNNNN/manifest.json
///
/// All calls are collective and throw a FileError on every rank when files fail.
class GanCheckpoints {
 public:
  /// @param path the run's folder
  GanCheckpoints(Communicator world, const std::string& path) : world_(std::move(world)), folder_(path) {}

  /// Writes a checkpoint of state.step; LibTorch's random numbers, too. After an error none of that step is left,
  /// and earlier ones are as they were.
  void save(const GanTrainer& trainer, const RunState& state) const;

  /// Reads the newest whole checkpoint, chosen by rank 0, which warns of newer ones that are damaged. Removes what a
  /// killed job left half written.
  RunState load_newest(GanTrainer& trainer) const;

 private:
  void write(const std::string& folder, const GanTrainer& trainer, const RunState& state) const;
  std::int64_t choose() const;

  Communicator world_;
  CheckpointFolder folder_;
};

/// The newest whole checkpoint of a run; warns of newer ones that are damaged. Not collective.
/// @throws FileError if there is none
std::int64_t newest_checkpoint(const CheckpointFolder& folder);

}  // namespace renga::app
