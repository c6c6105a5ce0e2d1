// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <torch/torch.h>

#include "renga/renga.hpp"

namespace renga::test {

/// How a training run sees its batches.
enum class Mode {
  Plain,        ///< stock LibTorch in one process: the oracle
  Reversed,     ///< the same with each batch in reverse order: what rounding alone does
  Distributed,  ///< on a mesh
};

/// Losses, parameters and buffers after training, whole and plain, by name.
using Trained = std::map<std::string, torch::Tensor>;

using MakeOptimizer = std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<torch::Tensor>&)>;

/// Stock optimizers by name: adam, adamw, sgd, rmsprop, adagrad, lbfgs.
MakeOptimizer optimizer_by_name(const std::string& name);

/// Feeds one run: batches by its mode, modules by its mode.
class Setting {
 public:
  Setting(Mode mode, const DeviceMesh& mesh) : mode_(mode), mesh_(mesh) {}

  /// A batch [N, ...], given whole.
  torch::Tensor batch(const torch::Tensor& whole) const;

  template <typename Factory>
  auto module(Factory factory) const {
    torch::manual_seed(11);
    return mode_ == Mode::Distributed ? distribute(mesh_, factory) : factory();
  }

 private:
  Mode mode_;
  DeviceMesh mesh_;
};

void collect(const std::string& prefix, const torch::nn::Module& module, Trained& out);

struct Comparison {
  double error = 0;    ///< worst of |a - b| / max |reference| over all tensors
  double control = 0;  ///< the same for the reversed batch, at the worst tensor
  std::string worst;   ///< tensor that is furthest beyond its bound, or has the largest error
  double excess = 0;   ///< error / bound there; more than 1 fails
};

/// Bound: 1e-10, or ten times the control where that is above 1e-11.
Comparison compare(const Trained& actual, const Trained& reference, const Trained& reversed);

/// Trains in all three modes (the plain ones on rank 0), prints one line and returns what was compared:
/// on the other ranks nothing.
Comparison check_training(const std::string& name, const std::function<Trained(const Setting&)>& train);

}  // namespace renga::test
