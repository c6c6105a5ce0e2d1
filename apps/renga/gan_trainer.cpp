// SPDX-License-Identifier: Apache-2.0
#include "gan_trainer.hpp"

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"

namespace renga::app {
namespace {

constexpr const char* kGenerator = "/generator.safetensors";
constexpr const char* kDiscriminator = "/discriminator.safetensors";
constexpr const char* kGeneratorOptimizer = "/state/generator_optimizer.safetensors";
constexpr const char* kDiscriminatorOptimizer = "/state/discriminator_optimizer.safetensors";

template <typename Model>
std::shared_ptr<Model> build(const DeviceMesh& mesh, const models::DcganOptions& sizes, torch::Dtype dtype) {
  return distribute(mesh, [&] {
    auto model = std::make_shared<Model>(sizes);
    model->to(dtype);
    return model;
  });
}

std::unique_ptr<torch::optim::Adam> adam(const torch::nn::Module& model, double learning_rate) {
  std::vector<torch::Tensor> trained;
  for (const auto& parameter : model.parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  return std::make_unique<torch::optim::Adam>(
      trained, torch::optim::AdamOptions(learning_rate).betas(std::make_tuple(0.0, 0.9)));
}

/// Takes a model's gradients away for as long as it lives.
class Frozen {
 public:
  explicit Frozen(const torch::nn::Module& model) {
    for (auto& parameter : model.parameters()) {
      if (parameter.requires_grad()) {
        frozen_.push_back(parameter.set_requires_grad(false));
      }
    }
  }
  ~Frozen() {
    for (auto& parameter : frozen_) {
      parameter.set_requires_grad(true);
    }
  }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  std::vector<torch::Tensor> frozen_;
};

}  // namespace

GanTrainer::GanTrainer(const DeviceMesh& mesh, const models::DcganOptions& sizes, const TrainOptions& options)
    : mesh_(mesh),
      loss_(options.loss),
      noise_(options.z),
      real_and_made_(options.real_and_made),
      form_(options.dtype == "float64" ? torch::kDouble : torch::kFloat),
      generator_(build<models::Generator>(mesh, sizes, torch::typeMetaToScalarType(form_.dtype()))),
      discriminator_(build<models::Discriminator>(mesh, sizes, torch::typeMetaToScalarType(form_.dtype()))),
      generator_optimizer_(adam(*generator_, options.learning_rate)),
      discriminator_optimizer_(adam(*discriminator_, options.learning_rate)) {}

torch::Tensor GanTrainer::noise(std::int64_t count) const {
  const std::vector<std::int64_t> sizes{count, generator_->options.latent};
  const Placements placements = placements_of(mesh_, mesh_.find_axis("data") < 0 ? AxisDims{} : AxisDims{{"data", 0}});
  return noise_ == Noise::Normal ? randn(mesh_, sizes, placements, form_)
                                 : rand(mesh_, sizes, placements, form_) * 2 - 1;
}

std::pair<torch::Tensor, torch::Tensor> GanTrainer::discriminate(const torch::Tensor& real, const torch::Tensor& made) {
  if (real_and_made_ == RealAndMade::Apart) {
    return {discriminator_->forward(real), discriminator_->forward(made)};
  }
  const auto logits = discriminator_->forward(torch::cat({real, made}));
  return {logits.slice(0, 0, real.size(0)), logits.slice(0, real.size(0))};
}

double GanTrainer::train_discriminator(const torch::Tensor& images) {
  torch::Tensor made;
  {
    const torch::NoGradGuard no_grad;
    made = generator_->forward(noise(images.size(0)));
  }
  const auto [real_logits, made_logits] = discriminate(images, made);
  const auto loss = models::discriminator_loss(real_logits, made_logits, loss_);
  discriminator_optimizer_->zero_grad();
  loss.backward();
  discriminator_optimizer_->step();
  return loss.item<double>();
}

double GanTrainer::train_generator(std::int64_t count) {
  const Frozen frozen(*discriminator_);
  const auto loss = models::generator_loss(discriminator_->forward(generator_->forward(noise(count))), loss_);
  generator_optimizer_->zero_grad();
  loss.backward();
  generator_optimizer_->step();
  return loss.item<double>();
}

GanLosses GanTrainer::step(const torch::Tensor& images) {
  const double discriminator = train_discriminator(images);
  return {discriminator, train_generator(images.size(0))};
}

torch::Tensor GanTrainer::sample(const torch::Tensor& z) {
  const torch::NoGradGuard no_grad;
  const AxisDims rows = mesh_.find_axis("data") < 0 ? AxisDims{} : AxisDims{{"data", 0}};
  generator_->eval();
  const auto images = full(generator_->forward(shard(z.to(form_.dtype()), mesh_, rows)));
  generator_->train();
  return images;
}

void GanTrainer::save(const std::string& folder) const {
  renga::save(folder + kGenerator, *generator_);
  renga::save(folder + kDiscriminator, *discriminator_);
  renga::save(folder + kGeneratorOptimizer, *generator_optimizer_, *generator_);
  renga::save(folder + kDiscriminatorOptimizer, *discriminator_optimizer_, *discriminator_);
}

void GanTrainer::load(const std::string& folder) {
  renga::load(folder + kGenerator, *generator_);
  renga::load(folder + kDiscriminator, *discriminator_);
  renga::load(folder + kGeneratorOptimizer, *generator_optimizer_, *generator_);
  renga::load(folder + kDiscriminatorOptimizer, *discriminator_optimizer_, *discriminator_);
}

}  // namespace renga::app
