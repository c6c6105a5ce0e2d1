// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>

#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"

#include "layout.hpp"
#include "rules.hpp"

// Operators that treat each sample (or each row, or each plane) by itself: pooling, resizing, padding,
// softmax, layer and group norm. They run on the pieces as long as the dims they look across are whole.
namespace renga {
namespace {

// Results by the sizes of their whole: dims that `input` splits stay split with the same cuts.
SpecPtr result_spec(const SpecPtr& input, const at::Tensor& local_result) {
  std::vector<std::int64_t> to(input->sizes.size(), -1);
  auto sizes = local_result.sizes().vec();
  for (std::size_t d = 0; d < to.size() && d < sizes.size(); ++d) {
    if (input->is_split(static_cast<std::int64_t>(d))) {
      to[d] = static_cast<std::int64_t>(d);
      sizes[d] = input->sizes[d];
    }
  }
  return mapped_spec(*input, to, std::move(sizes));
}

bool splits_any(const SpecPtr& spec, std::int64_t first, std::int64_t last) {
  for (std::int64_t d = first; d < last; ++d) {
    if (spec->is_split(d)) {
      return true;
    }
  }
  return false;
}

// Not every kernel takes a piece without samples or channels. Such a piece is stood in for by one of size 1
// in those dims, whose result is cut back to nothing.
at::Tensor stand_in(const at::Tensor& local, std::int64_t leading) {
  auto sizes = local.sizes().vec();
  bool empty = false;
  for (std::int64_t d = 0; d < std::min<std::int64_t>(leading, local.dim()); ++d) {
    empty = empty || sizes[at_index(d)] == 0;
    sizes[at_index(d)] = std::max<std::int64_t>(sizes[at_index(d)], 1);
  }
  return empty ? at::zeros(sizes, local.options()) : local;
}

at::Tensor cut_back(at::Tensor result, const SpecPtr& input) {
  for (std::int64_t d = 0; d < std::min(result.dim(), input->dim()); ++d) {
    if (input->is_split(d) && input->own(d).size() == 0) {
      result = result.narrow(d, 0, 0);
    }
  }
  return result;
}

// Resizing and pooling kernels are fastest on channels_last; the others keep what they are given.
enum class Order { AsGiven, Window };

// Runs on pieces: tensors of as many dims as `lead` are cut like it, the others are taken whole.
bool run_pieces(Call& call, const at::Tensor& lead, Order wanted) {
  torch::jit::Stack arguments = call.arguments();
  const SpecPtr spec = spec_of(lead);
  for (std::size_t i = 0; i < call.size(); ++i) {
    arguments[i] = map_tensors(call[i], [&](const at::Tensor& tensor) {
      if (tensor.dim() != lead.dim()) {
        return whole(tensor);
      }
      std::vector<std::int64_t> to(spec->sizes.size(), -1);
      for (std::int64_t d = 0; d < lead.dim(); ++d) {
        to[at_index(d)] = spec->is_split(d) && tensor.size(d) == lead.size(d) ? d : -1;
      }
      const at::Tensor local = stand_in(piece(tensor, mapped_spec(*spec, to, tensor.sizes().vec())), lead.dim());
      return wanted == Order::Window ? in_window_order(local) : local;
    });
  }
  torch::jit::Stack results = call.run(std::move(arguments));
  const auto order = wanted == Order::Window ? window_order(lead) : image_order(lead);
  for (auto& result : results) {
    if (result.isTensor() && result.toTensor().defined()) {
      const at::Tensor value = cut_back(result.toTensor(), spec);
      result = wrap(value, result_spec(spec, value), order);
    }
  }
  call.give(std::move(results));
  return true;
}

// Pooling, resizing and padding look across the last `Dims` dims. In backward the gradient comes first
// and the forward input second, or its sizes as integers.
template <std::int64_t Dims, Order Wanted = Order::Window>
bool planes(Call& call) {
  const at::Tensor lead = call.tensor(0);
  if (!is_split(lead) || lead.dim() <= Dims || splits_any(spec_of(lead), lead.dim() - Dims, lead.dim())) {
    return false;
  }
  // Nothing at all, on any rank: LibTorch says what that means.
  for (std::int64_t d = 0; d < lead.dim() - Dims; ++d) {
    if (lead.size(d) == 0) {
      return false;
    }
  }
  return run_pieces(call, lead, Wanted);
}

// Backward of resizing states the sizes of its whole input: those of the piece are put in their place.
template <std::int64_t Dims, std::size_t SizesArgument>
bool planes_with_sizes(Call& call) {
  const at::Tensor lead = call.tensor(0);
  if (!is_split(lead) || lead.dim() <= Dims || splits_any(spec_of(lead), lead.dim() - Dims, lead.dim())) {
    return false;
  }
  resolve(lead);
  auto sizes = call.ints(SizesArgument);
  for (std::int64_t d = 0; d < lead.dim() - Dims; ++d) {
    sizes[at_index(d)] = std::max<std::int64_t>(spec_of(lead)->own(d).size(), 1);
  }
  torch::jit::Stack arguments = call.arguments();
  arguments[0] = in_window_order(stand_in(local_tensor(lead), lead.dim()));
  arguments[SizesArgument] = sizes;
  const at::Tensor value = cut_back(call.run(std::move(arguments)).front().toTensor(), spec_of(lead));
  call.give_all(wrap(value, result_spec(spec_of(lead), value), window_order(lead)));
  return true;
}

// softmax(input, dim, …) and backward (grad, output, dim, …).
template <std::size_t DimArgument>
bool along_dim(Call& call) {
  const at::Tensor lead = call.tensor(0);
  if (!is_split(lead) || lead.dim() == 0) {
    return false;
  }
  const auto dim = at::maybe_wrap_dim(call[DimArgument].toInt(), lead.dim());
  return !spec_of(lead)->is_split(dim) && run_pieces(call, lead, Order::AsGiven);
}

}  // namespace

Rules sample_rules() {
  return {
      {"aten::avg_pool2d", &planes<2>},
      {"aten::avg_pool2d_backward", &planes<2>},
      {"aten::avg_pool3d", &planes<3>},
      {"aten::avg_pool3d_backward", &planes<3>},
      {"aten::max_pool2d_with_indices", &planes<2>},
      {"aten::max_pool2d_with_indices_backward", &planes<2>},
      {"aten::max_pool3d_with_indices", &planes<3>},
      {"aten::max_pool3d_with_indices_backward", &planes<3>},
      {"aten::_adaptive_avg_pool2d", &planes<2>},
      {"aten::_adaptive_avg_pool2d_backward", &planes<2>},
      {"aten::_adaptive_avg_pool3d", &planes<3>},
      {"aten::_adaptive_avg_pool3d_backward", &planes<3>},
      {"aten::adaptive_max_pool2d", &planes<2>},
      {"aten::adaptive_max_pool2d_backward", &planes<2>},
      {"aten::upsample_nearest1d", &planes<1>},
      {"aten::upsample_nearest2d", &planes<2>},
      {"aten::upsample_nearest2d.vec", &planes<2>},
      {"aten::upsample_nearest3d", &planes<3>},
      {"aten::upsample_bilinear2d", &planes<2>},
      {"aten::upsample_bilinear2d.vec", &planes<2>},
      {"aten::upsample_bicubic2d", &planes<2>},
      {"aten::upsample_bicubic2d.vec", &planes<2>},
      {"aten::upsample_nearest1d_backward", &planes_with_sizes<1, 2>},
      {"aten::upsample_nearest2d_backward", &planes_with_sizes<2, 2>},
      {"aten::upsample_nearest3d_backward", &planes_with_sizes<3, 2>},
      {"aten::upsample_bilinear2d_backward", &planes_with_sizes<2, 2>},
      {"aten::upsample_bicubic2d_backward", &planes_with_sizes<2, 2>},
      {"aten::reflection_pad2d", &planes<2, Order::AsGiven>},
      {"aten::reflection_pad2d_backward", &planes<2, Order::AsGiven>},
      {"aten::replication_pad2d", &planes<2, Order::AsGiven>},
      {"aten::replication_pad2d_backward", &planes<2, Order::AsGiven>},
      {"aten::_softmax", &along_dim<1>},
      {"aten::_log_softmax", &along_dim<1>},
      {"aten::_softmax_backward_data", &along_dim<2>},
      {"aten::_log_softmax_backward_data", &along_dim<2>},
  };
}

}  // namespace renga
