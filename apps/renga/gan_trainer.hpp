// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include <torch/optim/adam.h>

#include "renga/mesh/device_mesh.hpp"

#include "models/dcgan.hpp"
#include "models/gan_loss.hpp"
#include "options.hpp"

namespace renga::app {

struct GanLosses {
  double discriminator = 0;
  double generator = 0;
};

/// A DCGAN and its two optimizers. Stock LibTorch throughout: what is distributed is where the tensors live.
class GanTrainer {
 public:
  /// On a mesh. Collective.
  GanTrainer(const DeviceMesh& mesh, const models::DcganOptions& sizes, const TrainOptions& options);

  /// In plain LibTorch, in this process alone: what benchmarks compare with. Convolution weights, and
  /// so all images, in the given memory order.
  GanTrainer(at::MemoryFormat order, const models::DcganOptions& sizes, const TrainOptions& options);

  /// One step on a batch of real images [N, C, H, W]: the discriminator on real and made images,
  /// then the generator with new noise. Collective.
  GanLosses step(const torch::Tensor& images);

  /// Images [N, C, H, W], plain, from noise [N, latent], plain; batch norm by its running statistics.
  torch::Tensor sample(const torch::Tensor& z);

  const models::Generator& generator() const { return *generator_; }

  /// Writes weights and optimizers below `folder`, which exists. Collective. @throws FileError on every rank
  void save(const std::string& folder) const;
  /// Reads them. Collective. @throws FileError on every rank
  void load(const std::string& folder);

 private:
  torch::Tensor noise(std::int64_t count) const;
  std::pair<torch::Tensor, torch::Tensor> discriminate(const torch::Tensor& real, const torch::Tensor& made);
  double train_discriminator(const torch::Tensor& images);
  double train_generator(std::int64_t count);

  /// Without optimizers.
  GanTrainer(std::optional<DeviceMesh> mesh, const TrainOptions& options);
  void make_optimizers(double learning_rate);

  std::optional<DeviceMesh> mesh_;
  models::GanLoss loss_;
  Noise noise_;
  RealAndMade real_and_made_;
  torch::TensorOptions form_;
  std::shared_ptr<models::Generator> generator_;
  std::shared_ptr<models::Discriminator> discriminator_;
  std::unique_ptr<torch::optim::Adam> generator_optimizer_;
  std::unique_ptr<torch::optim::Adam> discriminator_optimizer_;
};

}  // namespace renga::app
