// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <renga/renga.hpp>
#include <torch/torch.h>

struct Net : torch::nn::Module {  // stock LibTorch, nothing distributed in it
  Net() {
    register_module("conv", conv);
    register_module("norm", norm);
    register_module("linear", linear);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return linear(torch::max_pool2d(torch::relu(norm(conv(x))), 4).flatten(1));
  }
  torch::nn::Conv2d conv{torch::nn::Conv2dOptions(1, 16, 3).padding(1).bias(false)};
  torch::nn::BatchNorm2d norm{16};
  torch::nn::Linear linear{16 * 8 * 8, 10};
};

int main(int argc, char** argv) {
  return renga::run(argc, argv, [](renga::Environment& environment) {
    const auto world = environment.world();
    const renga::DeviceMesh mesh(world, {{"data", world.size()}});
    const auto net = renga::distribute(mesh, [] { return std::make_shared<Net>(); });
    torch::optim::Adam optimizer(net->parameters(), 1e-3);  // a stock optimizer
    renga::data::Loader loader(renga::data::open_dataset("fashion-mnist"), mesh, {.batch_size = 64});
    int step = 0;
    for (auto& [images, labels] : loader) {
      optimizer.zero_grad();
      const auto loss = torch::cross_entropy_loss(net->forward(images), labels);
      loss.backward();  // gradients are added up while backward runs
      optimizer.step();
      const double value = loss.item<double>();  // every rank asks: adding up a loss takes all of them
      if (++step % 20 == 0 && world.rank() == 0) {
        std::printf("step %d loss %.4f\n", step, value);
      }
      if (step == 100) {
        break;
      }
    }
    renga::save("classifier.safetensors", *net);
  });
}
