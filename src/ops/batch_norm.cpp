// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numeric>

#include <ATen/Functions.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "channel_kernels.hpp"
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

at::Tensor channel_piece(const at::Tensor& values, const SpecPtr& channels) {
  return values.defined() ? piece(values, channels) : values;
}

struct Moments {
  at::Tensor mean;
  at::Tensor variance;  // biased
};

// As backward gets them.
struct Statistics {
  at::Tensor mean;
  at::Tensor invstd;
};

// What the kernels compute in: the image's own dtype, or float where that has too few digits for a sum.
at::Tensor computed(const at::Tensor& values) {
  const bool enough = values.scalar_type() == at::kFloat || values.scalar_type() == at::kDouble;
  return enough ? values : values.to(at::kFloat);
}

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

Moments merge(const at::Tensor& moments, const std::vector<double>& counts) {
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

Moments batch_statistics(const at::Tensor& local, const StatisticsPlan& plan) {
  const at::Tensor blocks = gather_blocks(channel_moments(local), plan.image->mesh, plan.axes);
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

// LibTorch's kernel on plain pieces; what is not split, or evaluated, needs no more.
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

// Whether LibTorch's kernel may run on the pieces as they are: in evaluation, and bit for bit where nothing is split.
bool is_local(const StatisticsPlan& plan, const Arguments& a, bool training) {
  const auto whole = [](const at::Tensor& running) {
    return !running.defined() || !is_dtensor(running) || !is_split(running);
  };
  return !training || (!plan.image->is_split() && whole(a.running_mean) && whole(a.running_var));
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
  const at::Tensor local = computed(local_tensor(a.input));
  const auto dtype = local.scalar_type();
  const Moments batch = batch_statistics(local, plan);
  const auto count = static_cast<double>(plan.count);
  update_running(a.running_mean, batch.mean, momentum, plan.channels);
  update_running(a.running_var, batch.variance * (count / (count - 1)), momentum, plan.channels);
  const at::Tensor mean = batch.mean.to(dtype);
  const at::Tensor invstd = (batch.variance + epsilon).rsqrt().to(dtype);
  const at::Tensor scale = a.weight.defined() ? invstd * channel_piece(a.weight, plan.channels).to(dtype) : invstd;
  const at::Tensor shift = a.bias.defined() ? channel_piece(a.bias, plan.channels).to(dtype) : at::zeros_like(mean);
  const at::Tensor result = channel_affine(local, mean, scale, shift).to(a.input.scalar_type());
  call.give_all(wrap(result, plan.image, a.input.strides()), wrap(mean, plan.channels), wrap(invstd, plan.channels));
  return true;
}

// dx = scale * (dy - sum(dy) / n - (x - mean) * invstd^2 * sum(dy * (x - mean)) / n); in evaluation the
// statistics are constants, and only the first term is left.
at::Tensor input_gradient(const at::Tensor& dy, const at::Tensor& x, const Statistics& saved, const at::Tensor& scale,
                          const at::Tensor& own_sums, const StatisticsPlan& plan, bool training) {
  if (!training) {
    const at::Tensor zero = at::zeros_like(scale);
    return channel_affine(dy, zero, scale, zero);
  }
  const at::Tensor sums = own_sums.clone();
  plan.image->mesh.over(plan.axes).all_reduce(sums);
  const at::Tensor means = (sums / -static_cast<double>(plan.count)).to(x.scalar_type());
  const at::Tensor factor = scale * saved.invstd * saved.invstd * means[1];
  return channel_gradient(dy, x, saved.mean, scale, factor, scale * means[0]);
}

Statistics saved_statistics(const Call& call, const StatisticsPlan& plan, at::ScalarType dtype) {
  if (call[7].toBool()) {
    return {piece(call.tensor(5), plan.channels).to(dtype), piece(call.tensor(6), plan.channels).to(dtype)};
  }
  return {piece(call.tensor(3), plan.channels).to(dtype),
          (piece(call.tensor(4), plan.channels) + call[8].toDouble()).rsqrt().to(dtype)};
}

bool batch_norm_backward(Call& call) {
  const at::Tensor input = call.tensor(1);
  if (!is_dtensor(input) || input.dim() < 2 || input.numel() == 0) {
    return false;
  }
  resolve(input);
  const StatisticsPlan plan = plan_statistics(input);
  const at::Tensor x = computed(local_tensor(input));
  const at::Tensor dy = piece(call.tensor(0), plan.image).to(x.scalar_type());
  const at::Tensor weight = channel_piece(call.tensor(2), plan.channels);
  const Statistics saved = saved_statistics(call, plan, x.scalar_type());
  const at::Tensor scale = weight.defined() ? weight.to(x.scalar_type()) * saved.invstd : saved.invstd;
  const at::Tensor own = channel_sums(dy, x, saved.mean);
  const auto mask = call[9].toBoolList();
  torch::jit::Stack results(3);
  if (mask[0]) {
    const at::Tensor dx = input_gradient(dy, x, saved, scale, own, plan, call[7].toBool());
    results[0] = wrap(dx.to(input.scalar_type()), plan.image, input.strides());
  }
  // One reduction only: these stay Partial and are added up with the other gradients.
  const auto summand = [&](const at::Tensor& sum) {
    return wrap(sum.to(weight.defined() ? weight.scalar_type() : input.scalar_type()), plan.channels, {}, plan.axes);
  };
  results[1] = mask[1] ? summand(own[1] * saved.invstd) : at::Tensor();
  results[2] = mask[2] ? summand(own[0].clone()) : at::Tensor();
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
