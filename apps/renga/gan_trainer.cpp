// SPDX-License-Identifier: Apache-2.0
#include "gan_trainer.hpp"

#include "renga/checkpoint/checkpoint.hpp"
#include "renga/parallel/adam.hpp"
#include "renga/parallel/distribute.hpp"
#include "renga/tensor/distributed.hpp"

namespace renga::app {
namespace {

constexpr const char* kGenerator = "/generator.safetensors";
constexpr const char* kDiscriminator = "/discriminator.safetensors";
constexpr const char* kGeneratorOptimizer = "/state/generator_optimizer.safetensors";
constexpr const char* kDiscriminatorOptimizer = "/state/discriminator_optimizer.safetensors";

template <typename Model>
std::shared_ptr<Model> build(const models::DcganOptions& sizes, torch::Dtype dtype) {
  auto model = std::make_shared<Model>(sizes);
  model->to(dtype);
  return model;
}

void set_order(const torch::nn::Module& model, at::MemoryFormat order) {
  for (auto& parameter : model.parameters()) {
    if (parameter.dim() == 4) {
      parameter.set_data(parameter.contiguous(order));
    }
  }
}

// A batch is split over the axis "data".
AxisDims rows_of(const DeviceMesh& mesh) { return mesh.find_axis("data") < 0 ? AxisDims{} : AxisDims{{"data", 0}}; }

template <typename Adam>
std::unique_ptr<torch::optim::Adam> make_adam(const torch::nn::Module& model, double learning_rate) {
  std::vector<torch::Tensor> trained;
  for (const auto& parameter : model.parameters()) {
    if (parameter.requires_grad()) {
      trained.push_back(parameter);
    }
  }
  return std::make_unique<Adam>(trained, torch::optim::AdamOptions(learning_rate).betas(std::make_tuple(0.0, 0.9)));
}

// Dropped rather than zeroed: the next backward pass then need not add to them.
void clear_gradients(const torch::nn::Module& model) {
  for (auto& parameter : model.parameters()) {
    parameter.mutable_grad() = torch::Tensor();
  }
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

GanTrainer::GanTrainer(std::optional<DeviceMesh> mesh, const TrainOptions& options)
    : mesh_(std::move(mesh)),
      loss_(options.loss),
      noise_(options.z),
      real_and_made_(options.real_and_made),
      form_(options.dtype == "float64" ? torch::kDouble : torch::kFloat) {}

GanTrainer::GanTrainer(const DeviceMesh& mesh, const models::DcganOptions& sizes, const TrainOptions& options)
    : GanTrainer(std::optional(mesh), options) {
  const auto dtype = torch::typeMetaToScalarType(form_.dtype());
  generator_ = distribute(mesh, [&] { return build<models::Generator>(sizes, dtype); });
  discriminator_ = distribute(mesh, [&] { return build<models::Discriminator>(sizes, dtype); });
  make_optimizers(options.learning_rate);
}

GanTrainer::GanTrainer(at::MemoryFormat order, const models::DcganOptions& sizes, const TrainOptions& options)
    : GanTrainer(std::nullopt, options) {
  const auto dtype = torch::typeMetaToScalarType(form_.dtype());
  generator_ = build<models::Generator>(sizes, dtype);
  discriminator_ = build<models::Discriminator>(sizes, dtype);
  set_order(*generator_, order);
  set_order(*discriminator_, order);
  make_optimizers(options.learning_rate);
}

void GanTrainer::make_optimizers(double learning_rate) {
  const auto make = mesh_ ? &make_adam<optim::Adam> : &make_adam<torch::optim::Adam>;
  generator_optimizer_ = make(*generator_, learning_rate);
  discriminator_optimizer_ = make(*discriminator_, learning_rate);
}

torch::Tensor GanTrainer::noise(std::int64_t count) const {
  const std::vector<std::int64_t> sizes{count, generator_->options.latent};
  if (!mesh_) {
    return noise_ == Noise::Normal ? torch::randn(sizes, form_) : torch::rand(sizes, form_) * 2 - 1;
  }
  const Placements placements = placements_of(*mesh_, rows_of(*mesh_));
  return noise_ == Noise::Normal ? randn(*mesh_, sizes, placements, form_)
                                 : rand(*mesh_, sizes, placements, form_) * 2 - 1;
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
  clear_gradients(*discriminator_);
  loss.backward();
  discriminator_optimizer_->step();
  return loss.item<double>();
}

double GanTrainer::train_generator(std::int64_t count) {
  const Frozen frozen(*discriminator_);
  const auto loss = models::generator_loss(discriminator_->forward(generator_->forward(noise(count))), loss_);
  clear_gradients(*generator_);
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
  const auto whole = z.to(form_.dtype());
  generator_->eval();
  const auto images = full(generator_->forward(mesh_ ? shard(whole, *mesh_, rows_of(*mesh_)) : whole));
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
