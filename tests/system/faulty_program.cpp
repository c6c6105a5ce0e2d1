// SPDX-License-Identifier: Apache-2.0
// A small training run that fails in the way its first argument says; fault_test.py looks at what becomes of the job.
// The second argument is the folder that it writes to.
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include <renga/renga.hpp>
#include <torch/torch.h>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/core/error.hpp"

#include "tests/checkpoint/file_size_limit.hpp"

namespace {

constexpr int kFaultyStep = 3;

bool is_last(const renga::Communicator& world) { return world.rank() == world.size() - 1; }

/// Samples that one rank cannot read from some index on.
class Samples : public renga::data::Dataset {
 public:
  explicit Samples(bool is_faulty) : is_faulty_(is_faulty) {}
  std::int64_t size() const override { return 960; }
  renga::data::ImageShape shape() const override { return {1, 8, 8}; }
  std::int64_t classes() const override { return 10; }

 private:
  void read_samples(std::span<const std::int64_t> indices, std::span<float> images,
                    std::span<std::int64_t> labels) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (is_faulty_ && indices[i] % 100 == 99) {
        throw renga::FileError("loader: thrown in a worker thread");
      }
      labels[i] = indices[i] % 10;
    }
    std::fill(images.begin(), images.end(), 0.5F);
  }
  bool is_faulty_;
};

/// Hands its input on, and throws in backward.
struct FaultyBackward : torch::autograd::Function<FaultyBackward> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& input) { return input.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    throw renga::Error("backward: thrown by the autograd engine");
  }
};

struct Net : torch::nn::Module {
  Net() { register_module("linear", linear); }
  torch::Tensor forward(const torch::Tensor& x) {
    if (throws_in_forward) {
      throw renga::Error("forward: thrown by the model");
    }
    const auto y = linear(x.flatten(1));
    return throws_in_backward ? FaultyBackward::apply(y) : y;
  }
  torch::nn::Linear linear{64, 10};
  bool throws_in_forward = false;
  bool throws_in_backward = false;
};

void save(const std::string& mode, const std::string& folder, const renga::Communicator& world, const Net& net) {
  renga::save(folder + "/before.safetensors", net);
  if (mode == "killed-saving" && world.rank() == 0) {
    renga::AtomicFile file(folder + "/killed.safetensors");
    file.write(std::string(100000, 'x'));
    std::raise(SIGKILL);
  }
  if (mode == "saving") {
    std::optional<FileSizeLimit> full_disk;
    if (world.rank() == 0) {
      full_disk.emplace(1000);
    }
    renga::save(folder + "/full.safetensors", net);
  }
  if (mode == "saving-alone" && is_last(world)) {
    throw renga::FileError("saving: thrown on one rank");
  }
  renga::save(folder + "/after.safetensors", net);
}

class Training {
 public:
  Training(const std::string& mode, const std::string& folder, renga::Environment& environment)
      : mode_(mode), folder_(folder), environment_(environment), world_(environment.world()) {}

  void run() {
    const renga::DeviceMesh mesh(world_, {{"data", world_.size()}});
    const auto net = renga::distribute(mesh, [] { return std::make_shared<Net>(); });
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    const auto samples = std::make_shared<Samples>(mode_ == "loader" && is_last(world_));
    renga::data::Loader loader(samples, mesh, {.batch_size = 12});
    while (true) {
      for (auto& [images, labels] : loader) {
        prepare(*net);
        optimizer.zero_grad();
        torch::cross_entropy_loss(net->forward(images), labels).backward();
        optimizer.step();
        if (is_over(*net)) {
          return;
        }
      }
    }
  }

 private:
  void prepare(Net& net) {
    ++step_;
    if (step_ == kFaultyStep) {
      std::puts("running");
      std::fflush(stdout);
      net.throws_in_forward = mode_ == "forward" && is_last(world_);
      net.throws_in_backward = mode_ == "backward" && is_last(world_);
    }
  }

  bool is_over(const Net& net) {
    if (step_ == kFaultyStep && mode_.find("saving") != std::string::npos) {
      save(mode_, folder_, world_, net);
    }
    if (mode_ == "deaf" || !environment_.stop_requested()) {
      return false;
    }
    renga::save(folder_ + "/stopped.safetensors", net);
    std::printf("stopped after step %d\n", step_);
    return true;
  }

  std::string mode_;
  std::string folder_;
  renga::Environment& environment_;
  renga::Communicator world_;
  int step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const std::string folder = argc > 2 ? argv[2] : ".";
  return renga::run(argc, argv, [&](renga::Environment& environment) { Training(mode, folder, environment).run(); });
}
