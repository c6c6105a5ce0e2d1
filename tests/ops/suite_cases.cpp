// SPDX-License-Identifier: Apache-2.0
#include "suite_inputs.hpp"

namespace renga::test {

void add_pointwise(Suite& s) {
  const auto unary = [&s](const char* name, Tensor (*f)(const Tensor&)) {
    s.add(name, {positive({5, 3})}, [f](const Tensors& x) { return Tensors{f(x[0])}; });
  };
  unary("exp", torch::exp);
  unary("log", torch::log);
  unary("sqrt", torch::sqrt);
  unary("rsqrt", torch::rsqrt);
  unary("tanh", torch::tanh);
  unary("sigmoid", torch::sigmoid);
  unary("relu", torch::relu);
  unary("abs", torch::abs);
  unary("neg", torch::neg);
  unary("reciprocal", torch::reciprocal);
  unary("square", torch::square);
  unary("sign", torch::sign);
  unary("isnan", torch::isnan);
  unary("isfinite", torch::isfinite);
  s.twice("add", {real({5, 3}), real({5, 3})}, [](const Tensors& x) { return Tensors{x[0] + x[1] * 2}; });
  s.twice("mul broadcast", {real({5, 3}), real({3})}, [](const Tensors& x) { return Tensors{x[0] * x[1]}; });
  s.twice("div broadcast", {real({4, 5, 3}), positive({5, 1})}, [](const Tensors& x) { return Tensors{x[0] / x[1]}; });
  s.add("sub both broadcast", {real({5, 1}), real({1, 4})}, [](const Tensors& x) { return Tensors{x[0] - x[1]}; });
  s.add("scalars", {real({5, 3})}, [](const Tensors& x) { return Tensors{(2 - x[0]) / 3 + 1}; });
  s.add("pow", {positive({5, 3})}, [](const Tensors& x) { return Tensors{x[0].pow(2.5)}; });
  s.add("leaky_relu", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::leaky_relu(x[0], 0.2)}; });
  s.twice("softplus", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::softplus(x[0])}; });
  s.add("elu", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::elu(x[0])}; });
  s.add("gelu", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::gelu(x[0])}; });
  s.add("silu", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::silu(x[0])}; });
  s.add("log_sigmoid", {real({7, 3})}, [](const Tensors& x) { return Tensors{torch::log_sigmoid(x[0])}; });
  s.add("clamp", {real({7, 3})}, [](const Tensors& x) { return Tensors{x[0].clamp(-0.5, 0.5)}; });
  s.add("where", {real({5, 3}), real({5, 3})},
        [](const Tensors& x) { return Tensors{torch::where(x[0] > x[1], x[0], x[1] * 2)}; });
  s.add("masked_fill", {real({5, 3})}, [](const Tensors& x) { return Tensors{x[0].masked_fill(x[0] > 0, 2.0)}; });
  s.add("maximum", {real({5, 3}), real({3})}, [](const Tensors& x) { return Tensors{torch::maximum(x[0], x[1])}; });
  s.add("addcmul", {real({5, 3}), real({5, 3}), real({3})},
        [](const Tensors& x) { return Tensors{torch::addcmul(x[0], x[1], x[2], 0.5)}; });
  s.add("addcdiv", {real({5, 3}), real({5, 3}), positive({5, 3})},
        [](const Tensors& x) { return Tensors{torch::addcdiv(x[0], x[1], x[2], 0.5)}; });
  s.add("lerp", {real({5, 3}), real({5, 3})}, [](const Tensors& x) { return Tensors{torch::lerp(x[0], x[1], 0.3)}; });
  s.add("compare", {real({5, 3}), real({3})}, [](const Tensors& x) {
    return Tensors{x[0] < x[1], x[0] == x[0], x[0].ge(0).logical_not()};
  });
  s.add("in place", {real({5, 3}), real({3})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.mul_(2).add_(x[1], 0.5).sub_(1).div_(3);
    y.relu_();
    return Tensors{y};
  });
  s.add("in place on slices", {real({6, 4})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.slice(0, 1, 3).mul_(3);
    y.select(1, 2).add_(1);
    y.narrow(1, 0, 2).copy_(y.narrow(1, 2, 2) * 2);
    return Tensors{y};
  });
  s.add("in place across rows", {real({6, 4})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.select(0, 1).mul_(3);
    y.view({2, 3, 4}).select(1, 1).add_(2);
    y.t().select(0, 1).mul_(0.5);
    return Tensors{y * y};
  });
  s.add("diagonal in place", {real({5, 5})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.diagonal().mul_(2);
    return Tensors{y * 3};
  });
  s.add("to", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{x[0].to(torch::kFloat).to(torch::kDouble), x[0].to(torch::kLong)};
  });
  s.add("clone detach", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{x[0].clone() + x[0].detach(), x[0].contiguous()};
  });
}

void add_views(Suite& s) {
  s.twice("transpose", {real({5, 3, 4})}, [](const Tensors& x) {
    return Tensors{x[0].transpose(0, 2) * 2, x[0].permute({1, 2, 0}).exp()};
  });
  s.add("t", {real({5, 3})}, [](const Tensors& x) { return Tensors{x[0].t().exp(), x[0].t().contiguous()}; });
  s.add("squeeze", {real({5, 1, 4})}, [](const Tensors& x) {
    return Tensors{x[0].squeeze(1), x[0].squeeze(), x[0].unsqueeze(0), x[0].unsqueeze(-1)};
  });
  s.add("expand", {real({5, 1, 4})}, [](const Tensors& x) {
    return Tensors{x[0].expand({5, 3, 4}), x[0].expand({2, 5, 1, 4}), x[0].repeat({1, 2, 1})};
  });
  s.add("flatten", {real({6, 2, 3, 4})}, [](const Tensors& x) {
    return Tensors{x[0].flatten(1), x[0].flatten(), x[0].flatten(0, 1), x[0].flatten(2)};
  });
  s.add("view", {real({6, 8})}, [](const Tensors& x) {
    return Tensors{x[0].view({6, 2, 4}), x[0].view({2, 3, 8}), x[0].view({-1}),
                   x[0].view({12, 4}),   x[0].view({6, 8, 1}), x[0].view({1, 6, 8})};
  });
  s.add("reshape of transposed", {real({6, 8})}, [](const Tensors& x) {
    return Tensors{x[0].t().reshape({-1}), x[0].t().reshape({2, 4, 6})};
  });
  s.add("unflatten", {real({6, 8})}, [](const Tensors& x) {
    return Tensors{x[0].unflatten(1, {2, 4}), x[0].unflatten(0, {3, 2})};
  });
  s.add("slice", {real({7, 5})}, [](const Tensors& x) {
    return Tensors{x[0].slice(0, 1, 6), x[0].slice(0, 1, 7, 2), x[0].slice(1, -3), x[0].slice(0, 5, 2),
                   x[0].narrow(0, 3, 4)};
  });
  s.add("select", {real({7, 5})}, [](const Tensors& x) {
    return Tensors{x[0].select(0, 3), x[0].select(1, -1), x[0][0]};
  });
  s.add("split", {real({7, 4})}, [](const Tensors& x) {
    Tensors out;
    for (const auto& t : x[0].split(3, 0))
      out.push_back(t * 2);
    for (const auto& t : x[0].chunk(2, 1))
      out.push_back(t * 3);
    for (const auto& t : x[0].unbind(1))
      out.push_back(t.exp());
    for (const auto& t : x[0].unbind(0))
      out.push_back(t.exp());
    for (const auto& t : x[0].split_with_sizes({2, 5}, 0))
      out.push_back(t.exp());
    return out;
  });
  s.add("as_strided", {real({6, 4})}, [](const Tensors& x) { return Tensors{x[0].as_strided({3, 2}, {8, 1}, 1) * 2}; });
  s.add("as_strided of slice", {real({6, 4})}, [](const Tensors& x) {
    Tensor y = x[0] * 1;
    y.slice(1, 1, 3).as_strided({6, 2}, {4, 1}, 1).mul_(2);
    return Tensors{y};
  });
  s.twice("cat", {real({5, 3}), real({4, 3})}, [](const Tensors& x) {
    return Tensors{torch::cat({x[0], x[1]}, 0), torch::cat({x[0], x[0] * 2}, 1)};
  });
  s.add("cat and part", {real({5, 3}), real({5, 3})}, [](const Tensors& x) {
    const Tensor y = torch::cat({x[0], x[1]}).exp();
    return Tensors{y.slice(0, 0, 5).mean(), y.slice(0, 5).sum()};
  });
  s.add("stack", {real({5, 3}), real({5, 3})}, [](const Tensors& x) {
    return Tensors{torch::stack({x[0], x[1]}, 0), torch::stack({x[0], x[1]}, 2)};
  });
  s.add("channels_last", {real({3, 4, 2, 5})}, [](const Tensors& x) {
    const Tensor y = x[0].contiguous(torch::MemoryFormat::ChannelsLast);
    return Tensors{y * 2, y.permute({0, 2, 3, 1}).reshape({-1, 4}), y.flatten(1)};
  });
}

void add_reductions(Suite& s) {
  s.twice("sum", {real({5, 3, 2})}, [](const Tensors& x) {
    return Tensors{x[0].sum(), x[0].sum(0), x[0].sum(torch::IntArrayRef{0, 2}), x[0].sum(1, true)};
  });
  s.twice("mean", {real({5, 3, 2})}, [](const Tensors& x) {
    return Tensors{x[0].mean(), x[0].mean(0), x[0].mean(torch::IntArrayRef{1, 2}), x[0].mean(0, true)};
  });
  s.add("mean of square", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{x[0].square().mean() * 2, x[0].sum().exp()};
  });
  s.add("prod", {positive({5, 3})}, [](const Tensors& x) { return Tensors{x[0].prod(), x[0].prod(0), x[0].prod(1)}; });
  s.add("amax", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{x[0].amax(0), x[0].amin(1), x[0].amax(), x[0].max(), x[0].min()};
  });
  s.add("max dim", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{std::get<0>(x[0].max(1)), std::get<1>(x[0].max(0)), x[0].argmax(1), x[0].argmax(0), x[0].argmax()};
  });
  s.add("any all", {real({5, 3})}, [](const Tensors& x) {
    return Tensors{(x[0] > 1).any(), (x[0] > -9).all(), (x[0] > 0).any(0), (x[0] > 0).all(1)};
  });
  s.add("integers", {classes({7, 2}, 9)}, [](const Tensors& x) {
    return Tensors{x[0].sum(), x[0].max(), x[0].amin(0), (x[0] + 1).prod(1), x[0].eq(3).sum()};
  });
  s.add("var", {real({6, 3})}, [](const Tensors& x) { return Tensors{x[0].var(0), x[0].std(1), x[0].var()}; });
  s.add("norm", {real({6, 3})}, [](const Tensors& x) {
    return Tensors{x[0].norm(), x[0].norm(2, 1), x[0].norm(1, 0)};
  });
  s.add("cumsum", {real({6, 3})}, [](const Tensors& x) {
    return Tensors{x[0].cumsum(0), x[0].cumsum(1), x[0].logsumexp(1)};
  });
}

std::vector<SuiteCase> suite_cases() {
  torch::manual_seed(3);
  Suite suite;
  add_pointwise(suite);
  add_views(suite);
  add_reductions(suite);
  add_products(suite);
  add_convolutions(suite);
  add_samples(suite);
  add_batch_norm(suite);
  add_losses(suite);
  add_gathered(suite);
  return suite.cases;
}

}  // namespace renga::test
