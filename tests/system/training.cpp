// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <cstdio>
#include <limits>

#include "tests/support/world.hpp"

namespace renga::test {

using torch::Tensor;

MakeOptimizer optimizer_by_name(const std::string& name) {
  namespace optim = torch::optim;
  using Parameters = std::vector<Tensor>;
  const std::map<std::string, MakeOptimizer> makers{
      {"adam",
       [](const Parameters& p) {
         return std::make_unique<optim::Adam>(p, optim::AdamOptions(2e-4).betas({0.0, 0.9}));
       }},
      {"adamw",
       [](const Parameters& p) {
         return std::make_unique<optim::AdamW>(p, optim::AdamWOptions(1e-3).weight_decay(0.05));
       }},
      {"sgd",
       [](const Parameters& p) {
         return std::make_unique<optim::SGD>(p, optim::SGDOptions(1e-3).momentum(0.9).weight_decay(1e-4));
       }},
      {"rmsprop", [](const Parameters& p) { return std::make_unique<optim::RMSprop>(p, optim::RMSpropOptions(1e-4)); }},
      {"adagrad", [](const Parameters& p) { return std::make_unique<optim::Adagrad>(p, optim::AdagradOptions(1e-2)); }},
      {"lbfgs",
       [](const Parameters& p) { return std::make_unique<optim::LBFGS>(p, optim::LBFGSOptions(0.5).max_iter(4)); }},
  };
  return makers.at(name);
}

Tensor Setting::batch(const Tensor& whole) const {
  if (mode_ == Mode::Plain) {
    return whole;
  }
  return mode_ == Mode::Reversed ? whole.flip(0) : shard(whole, mesh_, AxisDims{{"data", 0}});
}

void collect(const std::string& prefix, const torch::nn::Module& module, Trained& out) {
  for (const auto& item : module.named_parameters()) {
    out[prefix + item.key()] = full(item.value()).detach().clone();
  }
  for (const auto& item : module.named_buffers()) {
    out[prefix + item.key()] = full(item.value()).detach().clone();
  }
}

namespace {

double relative(const Tensor& a, const Tensor& reference) {
  if (a.sizes() != reference.sizes()) {
    return std::numeric_limits<double>::infinity();
  }
  const double error = (a - reference).abs().max().item<double>();
  const double scale = reference.abs().max().item<double>();
  const double result = error == 0 ? 0 : scale == 0 ? error : error / scale;
  return result == result ? result : std::numeric_limits<double>::infinity();
}

}  // namespace

Comparison compare(const Trained& actual, const Trained& reference, const Trained& reversed) {
  Comparison worst;
  for (const auto& [name, expected] : reference) {
    const auto found = actual.find(name);
    const double error =
        found == actual.end() ? std::numeric_limits<double>::infinity() : relative(found->second, expected);
    const double control = relative(reversed.at(name), expected);
    const double bound = control > 1e-11 ? 10 * control : 1e-10;
    worst.error = std::max(worst.error, error);
    if (worst.worst.empty() || error / bound > worst.excess) {
      worst.worst = name;
      worst.excess = error / bound;
      worst.control = control;
    }
  }
  return worst;
}

Comparison check_training(const std::string& name, const std::function<Trained(const Setting&)>& train) {
  const DeviceMesh mesh(world(), {{"data", world().size()}});
  Trained reference;
  Trained reversed;
  if (world().rank() == 0) {  // the others wait; the verdict is shared when the test ends
    reference = train(Setting(Mode::Plain, mesh));
    reversed = train(Setting(Mode::Reversed, mesh));
  }
  const Trained actual = train(Setting(Mode::Distributed, mesh));
  const Comparison result = compare(actual, reference, reversed);
  if (world().rank() == 0) {
    std::printf("%-48s ranks %d  error %.1e  rounding %.1e  (%s)\n", name.c_str(), world().size(), result.error,
                result.control, result.worst.c_str());
  }
  return result;
}

}  // namespace renga::test
