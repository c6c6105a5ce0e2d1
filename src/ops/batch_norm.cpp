// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "reduction.hpp"
#include "rules.hpp"

// Batch normalization of a split batch: statistics over every rank's samples, counted by element, so pieces
// may be uneven or empty. What PyTorch calls synchronized batch norm is what the ordinary one means here.
// @source Merging of (count, mean, M2): Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm
//         for Computing Sample Variances", 1979
namespace renga {
namespace {

// Axes that split what statistics are taken over, and how statistics themselves are split (by channel).
struct StatisticsPlan {
  SpecPtr image;
  SpecPtr channels;
  AxisSet axes = 0;
  std::int64_t count = 1;  // elements of a channel, over all ranks
};

StatisticsPlan plan_statistics(const at::Tensor& input) {
  StatisticsPlan plan;
  plan.image = spec_of(input);
  std::vector<std::int64_t> to(at_index(input.dim()), -1);
  to[1] = 0;
  plan.channels = mapped_spec(*plan.image, to, {input.size(1)});
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) {
      plan.axes |= plan.image->axes_of(d);
      plan.count *= input.size(d);
    }
  }
  return plan;
}

std::vector<std::int64_t> dims_but_channel(const at::Tensor& input) {
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < input.dim(); ++d) {
    if (d != 1) {
      dims.push_back(d);
    }
  }
  return dims;
}

// A per-channel tensor shaped to broadcast against the image.
at::Tensor per_channel(const at::Tensor& values, const at::Tensor& image) {
  std::vector<std::int64_t> sizes(at_index(image.dim()), 1);
  sizes[1] = values.size(0);
  return values.view(sizes);
}

at::Tensor channel_piece(const at::Tensor& values, const SpecPtr& channels) {
  return values.defined() ? piece(values, channels) : values;
}

struct Statistics {
  at::Tensor mean;
  at::Tensor variance;  // biased
};

// Rows: mean and M2 of this rank's elements.
at::Tensor local_moments(const at::Tensor& local) {
  const at::Tensor moments = at::zeros({2, local.size(1)}, local.options());
  const std::int64_t count = local.numel() / std::max<std::int64_t>(local.size(1), 1);
  if (count > 0) {
    auto [variance, mean] = at::var_mean(local, dims_but_channel(local), false);
    moments.select(0, 0).copy_(mean);
    moments.select(0, 1).copy_(variance).mul_(static_cast<double>(count));
  }
  return moments;
}

// Elements of a channel that each rank of the group holds, in rank order; known from the cuts.
std::vector<double> counts_of_ranks(const StatisticsPlan& plan) {
  const Spec& spec = *plan.image;
  std::vector<double> counts;
  for (std::int64_t member = 0; member < block_count(spec.mesh, plan.axes); ++member) {
    std::vector<std::int64_t> blocks(spec.sizes.size(), 0);
    std::int64_t stride = block_count(spec.mesh, plan.axes);
    for (int axis = 0; axis < spec.mesh.axis_count(); ++axis) {
      if ((plan.axes >> axis & 1U) != 0) {
        const std::int64_t size = spec.mesh.axis(axis).size;
        stride /= size;
        auto& index = blocks[at_index(spec.placements[static_cast<std::size_t>(axis)].dim())];
        index = index * size + member / stride % size;
      }
    }
    std::int64_t count = 1;
    for (std::int64_t d = 0; d < spec.dim(); ++d) {
      const Cuts& cut = spec.cuts[at_index(d)];
      count *= d == 1 ? 1 : cut.empty() ? spec.sizes[at_index(d)] : block(cut, blocks[at_index(d)]).size();
    }
    counts.push_back(static_cast<double>(count));
  }
  return counts;
}

Statistics merge(const at::Tensor& moments, const std::vector<double>& counts) {
  double total = 0;
  at::Tensor mean = at::zeros_like(moments[0][0]);
  at::Tensor m2 = at::zeros_like(mean);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] == 0) {
      continue;
    }
    const at::Tensor rank_moments = moments[static_cast<std::int64_t>(r)];
    const at::Tensor delta = rank_moments[0] - mean;
    const double sum = total + counts[r];
    mean = mean + delta * (counts[r] / sum);
    m2 = m2 + rank_moments[1] + delta * delta * (total * counts[r] / sum);
    total = sum;
  }
  return {mean, m2 / total};
}

Statistics batch_statistics(const at::Tensor& local, const StatisticsPlan& plan) {
  const at::Tensor blocks = gather_blocks(local_moments(local), plan.image->mesh, plan.axes);
  return merge(blocks, counts_of_ranks(plan));
}

// running = (1 - momentum) * running + momentum * batch; a running value may be split by channel or not.
void update_running(const at::Tensor& running, const at::Tensor& batch, double momentum, const SpecPtr& channels) {
  if (!running.defined()) {
    return;
  }
  const at::Tensor now = piece(running, channels) * (1 - momentum) + batch * momentum;
  if (is_dtensor(running)) {
    state(running).local.copy_(move_piece(now, *channels, *spec_of(running)));
    written(running);
  } else {
    running.copy_(move_piece(now, *channels, *replicated_spec(channels->mesh, channels->sizes)));
  }
}

struct Arguments {
  at::Tensor input, weight, bias, running_mean, running_var;
};

// Kernels divide by the number of elements; a piece without any has nothing to normalize.
torch::jit::Stack run_kernel(const Call& call, torch::jit::Stack arguments) {
  const at::Tensor input = arguments[0].toTensor();
  if (input.numel() == 0) {
    const at::Tensor none = at::empty({0}, input.options());
    return {at::empty_like(input), none, none};
  }
  return call.run(std::move(arguments));
}

// LibTorch's kernel on plain pieces; a group of one, or evaluation, needs no more.
torch::jit::Stack run_local(const Call& call, const Arguments& a, const SpecPtr& channels) {
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = local_tensor(a.input);
  arguments[1] = channel_piece(a.weight, channels);
  arguments[2] = channel_piece(a.bias, channels);
  arguments[3] = channel_piece(a.running_mean, channels);
  arguments[4] = channel_piece(a.running_var, channels);
  return run_kernel(call, std::move(arguments));
}

void mark_written(const at::Tensor& running) {
  if (running.defined() && is_dtensor(running)) {
    written(running);  // the schema does not say so, but the kernel writes it
  }
}

void give_local(Call& call, const Arguments& a, const StatisticsPlan& plan) {
  torch::jit::Stack results = run_local(call, a, plan.channels);
  mark_written(a.running_mean);
  mark_written(a.running_var);
  const auto statistic = [&](const c10::IValue& value) {
    const at::Tensor tensor = value.toTensor();
    const bool empty = tensor.numel() == 0 && plan.channels->sizes[0] != 0;  // evaluation saves nothing
    return wrap(tensor, empty ? replicated_spec(plan.channels->mesh, tensor.sizes().vec()) : plan.channels);
  };
  call.give_all(wrap(results[0].toTensor(), plan.image, a.input.strides()), statistic(results[1]),
                statistic(results[2]));
}

// Whether LibTorch's kernel may run on the pieces as they are.
bool is_local(const StatisticsPlan& plan, const Arguments& a, bool training) {
  const auto in_place = [&](const at::Tensor& running) {
    return !running.defined() ||
           (is_dtensor(running) ? *spec_of(running) == *plan.channels : !plan.channels->is_split());
  };
  const bool fits = in_place(a.running_mean) && in_place(a.running_var);
  return !training || (fits && block_count(plan.image->mesh, plan.axes) == 1);
}

bool batch_norm(Call& call) {
  const Arguments a{call.tensor(0), call.tensor(1), call.tensor(2), call.tensor(3), call.tensor(4)};
  if (!is_dtensor(a.input) || a.input.dim() < 2 || a.input.numel() == 0) {
    return false;
  }
  resolve(a.input);
  const StatisticsPlan plan = plan_statistics(a.input);
  const bool training = call[5].toBool();
  const double momentum = call[6].toDouble();
  const double epsilon = call[7].toDouble();
  if (is_local(plan, a, training)) {
    give_local(call, a, plan);
    return true;
  }
  const at::Tensor& local = local_tensor(a.input);
  const Statistics batch = batch_statistics(local, plan);
  const auto count = static_cast<double>(plan.count);
  update_running(a.running_mean, batch.mean, momentum, plan.channels);
  update_running(a.running_var, batch.variance * (count / (count - 1)), momentum, plan.channels);
  // With statistics given, LibTorch's evaluation kernel is the fused normalization.
  torch::jit::Stack results =
      run_kernel(call, {local, channel_piece(a.weight, plan.channels), channel_piece(a.bias, plan.channels), batch.mean,
                        batch.variance, false, momentum, epsilon});
  call.give_all(wrap(results[0].toTensor(), plan.image, a.input.strides()), wrap(batch.mean, plan.channels),
                wrap((batch.variance + epsilon).rsqrt(), plan.channels));
  return true;
}

// Sums over this rank's elements of dy and of dy * (x - mean) * invstd, as rows.
at::Tensor local_sums(const at::Tensor& gradient, const at::Tensor& centered, const at::Tensor& invstd) {
  const auto dims = dims_but_channel(gradient);
  return at::stack({gradient.sum(dims), (gradient * centered).sum(dims) * invstd});
}

bool batch_norm_backward(Call& call) {
  const at::Tensor gradient = call.tensor(0);
  const at::Tensor input = call.tensor(1);
  if (!is_dtensor(input) || input.dim() < 2 || input.numel() == 0) {
    return false;
  }
  resolve(input);
  const StatisticsPlan plan = plan_statistics(input);
  const bool training = call[7].toBool();
  const at::Tensor local = local_tensor(input);
  const at::Tensor dy = piece(gradient, plan.image);
  const at::Tensor mean = piece(training ? call.tensor(5) : call.tensor(3), plan.channels);
  const at::Tensor invstd = training ? piece(call.tensor(6), plan.channels)
                                     : (piece(call.tensor(4), plan.channels) + call[8].toDouble()).rsqrt();
  const at::Tensor centered = local - per_channel(mean, local);
  const at::Tensor own = local_sums(dy, centered, invstd);
  const at::Tensor scale = call.tensor(2).defined() ? piece(call.tensor(2), plan.channels) * invstd : invstd;
  const auto mask = call[9].toBoolList();
  torch::jit::Stack results(3);
  if (mask[0]) {
    at::Tensor dx = dy * per_channel(scale, local);
    if (training) {
      at::Tensor sums = own.clone();
      plan.image->mesh.over(plan.axes).all_reduce(sums);
      const at::Tensor factor = scale * (sums.select(0, 1) * invstd / -static_cast<double>(plan.count));
      const at::Tensor shift = scale * (sums.select(0, 0) / -static_cast<double>(plan.count));
      dx.addcmul_(centered, per_channel(factor, local)).add_(per_channel(shift, local));
    }
    results[0] = wrap(dx, plan.image, input.strides());
  }
  // One reduction only: these stay Partial and are added up with the other gradients.
  results[1] = mask[1] ? wrap(own.select(0, 1).clone(), plan.channels, {}, plan.axes) : at::Tensor();
  results[2] = mask[2] ? wrap(own.select(0, 0).clone(), plan.channels, {}, plan.axes) : at::Tensor();
  call.give(std::move(results));
  return true;
}

// Nothing split: LibTorch's own kernel, bit for bit.
bool batch_norm_backward_or_local(Call& call) {
  const at::Tensor input = call.tensor(1);
  return is_split(input) && batch_norm_backward(call);
}

}  // namespace

Rules batch_norm_rules() {
  return {
      {"aten::native_batch_norm", &batch_norm},
      {"aten::native_batch_norm_backward", &batch_norm_backward_or_local},
  };
}

}  // namespace renga
