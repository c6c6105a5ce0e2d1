// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

// Arithmetic by channel on plain CPU tensors [N, C, …] of float or double, for batch norm: each function reads
// its images once, where a chain of LibTorch's operators would read and write them several times. Images may
// be channels_last or contiguous (others are copied); several must have the same sizes. Results have the
// memory order of the first. Per-channel operands are [C] of the images' dtype.
namespace renga {

/// Mean and sum of squared deviations from it, per channel: [2, C], double. Zeros without elements. Sums run in
/// blocks of some hundred elements a channel, which are merged in double, so that neither many elements nor a
/// mean far from zero costs digits.
/// @source Chan, Golub, LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979
at::Tensor channel_moments(const at::Tensor& x);

/// (x - center) * scale + shift
at::Tensor channel_affine(const at::Tensor& x, const at::Tensor& center, const at::Tensor& scale,
                          const at::Tensor& shift);

/// Sums over a channel of dy and of dy * (x - center): [2, C], double.
at::Tensor channel_sums(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& center);

/// dy * scale + (x - center) * factor + shift
at::Tensor channel_gradient(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& center,
                            const at::Tensor& scale, const at::Tensor& factor, const at::Tensor& shift);

}  // namespace renga
