// SPDX-License-Identifier: Apache-2.0
#include "suite_inputs.hpp"

namespace renga::test {

void add_products(Suite& s) {
  s.twice("mm", {real({5, 4}), real({4, 3})}, [](const Tensors& x) { return Tensors{x[0].mm(x[1])}; });
  s.add("matmul transposed", {real({5, 4}), real({3, 4})},
        [](const Tensors& x) { return Tensors{x[0].matmul(x[1].t())}; });
  s.twice("linear", {real({5, 4}), real({3, 4}), real({3})},
          [](const Tensors& x) { return Tensors{torch::linear(x[0], x[1], x[2])}; });
  s.add("linear 3-d", {real({3, 5, 4}), real({6, 4}), real({6})},
        [](const Tensors& x) { return Tensors{torch::linear(x[0], x[1], x[2])}; });
  s.add("bmm", {real({3, 5, 4}), real({3, 4, 2})}, [](const Tensors& x) { return Tensors{x[0].bmm(x[1])}; });
  s.add("baddbmm", {real({3, 5, 2}), real({3, 5, 4}), real({3, 4, 2})},
        [](const Tensors& x) { return Tensors{torch::baddbmm(x[0], x[1], x[2], 0.5, 2)}; });
  s.add("mv", {real({5, 4}), real({4})}, [](const Tensors& x) { return Tensors{x[0].mv(x[1]), x[1].dot(x[1])}; });
  s.add("addmm", {real({5, 3}), real({5, 4}), real({4, 3})},
        [](const Tensors& x) { return Tensors{torch::addmm(x[0], x[1], x[2], 0.5, 2)}; });
}

void add_convolutions(Suite& s) {
  s.twice("conv2d", {real({5, 4, 6, 5}), real({3, 4, 3, 3}), real({3})},
          [](const Tensors& x) { return Tensors{torch::conv2d(x[0], x[1], x[2], 1, 1)}; });
  s.add("conv2d stride", {real({3, 2, 7, 7}), real({4, 2, 3, 3})},
        [](const Tensors& x) { return Tensors{torch::conv2d(x[0], x[1], {}, 2, 1, 1)}; });
  s.add("conv2d dilated", {real({3, 2, 7, 7}), real({4, 2, 3, 3})},
        [](const Tensors& x) { return Tensors{torch::conv2d(x[0], x[1], {}, 1, 2, 2)}; });
  s.add("conv2d groups", {real({4, 4, 5, 5}), real({6, 2, 3, 3}), real({6})},
        [](const Tensors& x) { return Tensors{F::conv2d(x[0], x[1], F::Conv2dFuncOptions().bias(x[2]).groups(2))}; });
  s.add("conv2d channels_last", {real({4, 3, 5, 5}), real({6, 3, 3, 3})}, [](const Tensors& x) {
    return Tensors{torch::conv2d(x[0].contiguous(torch::MemoryFormat::ChannelsLast), x[1], {}, 1, 1)};
  });
  s.add("conv2d viewed", {real({4, 3, 5, 4}), real({6, 3, 3, 3})}, [](const Tensors& x) {
    const auto y = torch::conv2d(x[0], x[1], {}, 1, 1);
    return Tensors{y.view({4, -1}), y.view({4, 2, 3, 20}) * 2, y.view({-1}), y.view({8, 60}).square()};
  });
  s.add("conv2d viewed and written", {real({4, 3, 5, 4}), real({6, 3, 3, 3})}, [](const Tensors& x) {
    const auto y = torch::conv2d(x[0], x[1], {}, 1, 1) * 1;
    const auto rows = y.view({4, -1});
    rows.mul_(2);
    const auto all = y.view({-1});
    y.add_(1);
    return Tensors{rows * 1, all * 1, y * 1};
  });
  s.add("conv1d", {real({5, 3, 8}), real({4, 3, 3}), real({4})},
        [](const Tensors& x) { return Tensors{torch::conv1d(x[0], x[1], x[2])}; });
  s.add("conv3d", {real({3, 2, 4, 4, 4}), real({2, 2, 2, 2, 2})},
        [](const Tensors& x) { return Tensors{torch::conv3d(x[0], x[1])}; });
  s.add("conv_transpose2d", {real({4, 3, 4, 4}), real({3, 5, 4, 4}), real({5})},
        [](const Tensors& x) { return Tensors{torch::conv_transpose2d(x[0], x[1], x[2], 2, 1)}; });
}

void add_samples(Suite& s) {
  const auto image = [] { return real({5, 3, 6, 6}); };
  s.add("avg_pool2d", {image()}, [](const Tensors& x) { return Tensors{torch::avg_pool2d(x[0], 2)}; });
  s.add("max_pool2d", {image()}, [](const Tensors& x) { return Tensors{torch::max_pool2d(x[0], 3, 2, 1)}; });
  s.add("adaptive_avg_pool2d", {image()}, [](const Tensors& x) {
    return Tensors{torch::adaptive_avg_pool2d(x[0], {1, 1}), torch::adaptive_avg_pool2d(x[0], {2, 4})};
  });
  s.add("upsample", {image()}, [](const Tensors& x) {
    return Tensors{
        F::interpolate(x[0], F::InterpolateFuncOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest)),
        F::interpolate(x[0], F::InterpolateFuncOptions()
                                 .size(std::vector<std::int64_t>{9, 8})
                                 .mode(torch::kBilinear)
                                 .align_corners(false))};
  });
  s.add("pad", {image()}, [](const Tensors& x) {
    return Tensors{torch::constant_pad_nd(x[0], {1, 2, 0, 1}), torch::reflection_pad2d(x[0], {1, 1, 2, 2})};
  });
  s.twice("softmax", {real({5, 4})}, [](const Tensors& x) {
    return Tensors{torch::softmax(x[0], 1), torch::log_softmax(x[0], 1), torch::softmax(x[0], 0)};
  });
  s.add("layer_norm", {real({5, 4}), real({4}), real({4})},
        [](const Tensors& x) { return Tensors{torch::layer_norm(x[0], {4}, x[1], x[2])}; });
  s.add("group_norm", {real({5, 4, 3, 3}), real({4}), real({4})},
        [](const Tensors& x) { return Tensors{torch::group_norm(x[0], 2, x[1], x[2])}; });
}

void add_batch_norm(Suite& s) {
  const auto train = [](const Tensors& x) {
    const Tensor mean = torch::zeros({3}, torch::kDouble), variance = torch::ones({3}, torch::kDouble);
    const Tensor y = torch::batch_norm(x[0], x[1], x[2], mean, variance, true, 0.1, 1e-5, false);
    return Tensors{y, mean, variance};
  };
  s.twice("batch_norm 4-d", {real({5, 3, 4, 2}), positive({3}), real({3})}, train);
  s.twice("batch_norm 2-d", {real({6, 3}), positive({3}), real({3})}, train);
  s.add("batch_norm 3-d", {real({5, 3, 4}), positive({3}), real({3})}, train);
  s.add("batch_norm 5-d", {real({3, 3, 2, 2, 2}), positive({3}), real({3})}, train);
  s.add("batch_norm permuted", {real({4, 2, 5, 3}), positive({3}), real({3})}, [train](const Tensors& x) {
    return train({x[0].permute({2, 3, 0, 1}), x[1], x[2]});
  });
  s.add("batch_norm few samples", {real({2, 3, 2, 2}), positive({3}), real({3})}, train);
  s.add("batch_norm evaluation", {real({5, 3, 4, 2}), positive({3}), real({3})}, [](const Tensors& x) {
    return Tensors{torch::batch_norm(x[0], x[1], x[2], torch::full({3}, 0.3, torch::kDouble),
                                     torch::full({3}, 2.0, torch::kDouble), false, 0.1, 1e-5, false)};
  });
}

void add_losses(Suite& s) {
  for (const auto reduction : {torch::Reduction::Mean, torch::Reduction::Sum, torch::Reduction::None}) {
    s.twice("mse_loss", {real({5, 3}), real({5, 3})},
            [=](const Tensors& x) { return Tensors{torch::mse_loss(x[0], x[1], reduction)}; });
    s.add("l1_loss", {real({5, 3}), real({5, 3})},
          [=](const Tensors& x) { return Tensors{torch::l1_loss(x[0], x[1].detach(), reduction)}; });
    s.add("smooth_l1_loss", {real({5, 3}), real({5, 3})},
          [=](const Tensors& x) { return Tensors{torch::smooth_l1_loss(x[0], x[1].detach(), reduction)}; });
    s.add("huber_loss", {real({5, 3}), real({5, 3})},
          [=](const Tensors& x) { return Tensors{torch::huber_loss(x[0], x[1].detach(), reduction)}; });
    s.add("binary_cross_entropy", {real({5, 3}), positive({5, 3})}, [=](const Tensors& x) {
      return Tensors{torch::binary_cross_entropy(x[0].sigmoid(), x[1].detach().clamp(0, 1), {}, reduction)};
    });
    s.add("bce_with_logits", {real({5, 3}), positive({5, 3})}, [=](const Tensors& x) {
      return Tensors{torch::binary_cross_entropy_with_logits(x[0], x[1].detach(), {}, {}, reduction)};
    });
    s.add("cross_entropy", {real({7, 4}), classes({7}, 4)},
          [=](const Tensors& x) { return Tensors{torch::cross_entropy_loss(x[0], x[1], {}, reduction)}; });
    s.add("cross_entropy weighted", {real({7, 4}), classes({7}, 4)}, [=](const Tensors& x) {
      return Tensors{torch::cross_entropy_loss(x[0], x[1], torch::tensor({0.5, 1.0, 2.0, 1.5}, torch::kDouble),
                                               reduction, 2, 0.0)};
    });
    s.add("cross_entropy smoothed", {real({7, 4}), classes({7}, 4)},
          [=](const Tensors& x) { return Tensors{torch::cross_entropy_loss(x[0], x[1], {}, reduction, -100, 0.1)}; });
    s.add("nll_loss2d", {real({3, 4, 2, 2}), classes({3, 2, 2}, 4)},
          [=](const Tensors& x) { return Tensors{torch::nll_loss2d(x[0], x[1], {}, reduction)}; });
  }
  s.add("kl_div", {real({5, 3}), positive({5, 3})},
        [](const Tensors& x) { return Tensors{torch::kl_div(x[0], x[1].detach())}; });
}

// Operators without a rule: gathered, and right all the same.
void add_gathered(Suite& s) {
  s.add("sort", {real({6, 3})}, [](const Tensors& x) {
    return Tensors{std::get<0>(x[0].sort(0)), std::get<0>(x[0].topk(2, 1))};
  });
  s.add("index_select", {real({6, 3})}, [](const Tensors& x) {
    return Tensors{x[0].index_select(0, torch::tensor({4, 0, 4}))};
  });
  s.add("index_put_", {real({6, 3})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.index_put_({torch::tensor({1, 4})}, torch::ones({2, 3}, torch::kDouble));
    return Tensors{y};
  });
  s.add("flip roll tril", {real({6, 6})}, [](const Tensors& x) {
    return Tensors{x[0].flip(0), x[0].roll(2, 0), x[0].tril()};
  });
  s.add("embedding", {real({6, 3}), classes({5}, 6)},
        [](const Tensors& x) { return Tensors{torch::embedding(x[0], x[1])}; });
}

}  // namespace renga::test
