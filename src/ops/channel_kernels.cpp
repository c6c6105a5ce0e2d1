// SPDX-License-Identifier: Apache-2.0
#include "channel_kernels.hpp"

#include <algorithm>
#include <vector>

#include <ATen/Dispatch.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>

#include "channel_blocks.hpp"
#include "channel_loops.hpp"
#include "src/core/vectorized.hpp"

namespace renga {
namespace {

using loops::kLanes;
using loops::Rows;

RENGA_VECTORIZED void moments(const float* x, Rows block, float* mean, float* squares) {
  loops::moments(x, block, mean, squares);
}
RENGA_VECTORIZED void moments(const double* x, Rows block, double* mean, double* squares) {
  loops::moments(x, block, mean, squares);
}
RENGA_VECTORIZED void sums(const float* dy, const float* x, const float* center, Rows block, float* plain,
                           float* weighted) {
  loops::sums(dy, x, center, block, plain, weighted);
}
RENGA_VECTORIZED void sums(const double* dy, const double* x, const double* center, Rows block, double* plain,
                           double* weighted) {
  loops::sums(dy, x, center, block, plain, weighted);
}
RENGA_VECTORIZED void affine(const float* x, const float* center, const float* scale, const float* shift, Rows block,
                             float* y) {
  loops::affine(x, center, scale, shift, block, y);
}
RENGA_VECTORIZED void affine(const double* x, const double* center, const double* scale, const double* shift,
                             Rows block, double* y) {
  loops::affine(x, center, scale, shift, block, y);
}
RENGA_VECTORIZED void gradient(const float* dy, const float* x, const float* center, const float* scale,
                               const float* factor, const float* shift, Rows block, float* dx) {
  loops::gradient(dy, x, center, scale, factor, shift, block, dx);
}
RENGA_VECTORIZED void gradient(const double* dy, const double* x, const double* center, const double* scale,
                               const double* factor, const double* shift, Rows block, double* dx) {
  loops::gradient(dy, x, center, scale, factor, shift, block, dx);
}

// A per-channel operand as the loops see it: [C], or for planes one value in every lane.
template <typename T>
class Operand {
 public:
  Operand(const at::Tensor& values, const Layout& layout) : values_(values.contiguous()), planes_(layout.inner != 1) {}
  // For the columns of a block.
  const T* at(const Block& block) {
    const T* const data = values_.data_ptr<T>() + block.channel;
    if (!planes_) {
      return data;
    }
    lanes_.fill(*data);
    return lanes_.data();
  }

 private:
  at::Tensor values_;
  bool planes_;
  std::array<T, kLanes> lanes_{};
};

// Adds `count` elements with this mean and these squares to those of a channel so far.
void merge(double* count, double* mean, double* squares, double more, double their_mean, double their_squares) {
  const double total = *count + more;
  const double delta = their_mean - *mean;
  *mean += delta * (more / total);
  *squares += their_squares + delta * delta * (*count * more / total);
  *count = total;
}

template <typename T>
void add_moments(const at::Tensor& x, const Layout& layout, std::int64_t begin, std::int64_t end, double* out) {
  loops::Column<T> mean;
  loops::Column<T> squares;
  double* const count = out;
  for_all(layout, begin, end, [&](const Block& block) {
    moments(x.data_ptr<T>() + block.first, block.rows, mean.data(), squares.data());
    for (std::int64_t c = 0; c < block.rows.columns; ++c) {
      const std::int64_t channel = block.channel + (layout.inner == 1 ? c : 0);
      merge(count + channel, out + layout.channels + channel, out + 2 * layout.channels + channel,
            static_cast<double>(block.rows.rows), mean[static_cast<std::size_t>(c)],
            squares[static_cast<std::size_t>(c)]);
    }
  });
}

template <typename T>
void add_sums(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& center, const Layout& layout,
              std::int64_t begin, std::int64_t end, double* out) {
  loops::Column<T> plain;
  loops::Column<T> weighted;
  Operand<T> centers(center, layout);
  for_all(layout, begin, end, [&](const Block& block) {
    sums(dy.data_ptr<T>() + block.first, x.data_ptr<T>() + block.first, centers.at(block), block.rows, plain.data(),
         weighted.data());
    for (std::int64_t c = 0; c < block.rows.columns; ++c) {
      const std::int64_t channel = block.channel + (layout.inner == 1 ? c : 0);
      out[channel] += plain[static_cast<std::size_t>(c)];
      out[layout.channels + channel] += weighted[static_cast<std::size_t>(c)];
    }
  });
}

at::Tensor in_order(const at::Tensor& x) { return x.contiguous(format_of(x)); }

at::Tensor like(const at::Tensor& x, const at::Tensor& first) { return x.contiguous(format_of(first)); }

}  // namespace

at::Tensor channel_moments(const at::Tensor& given) {
  const at::Tensor x = in_order(given);
  const Layout layout = layout_of(x);
  const std::int64_t parts = part_count(layout);
  const at::Tensor made = at::zeros({parts, 3, layout.channels}, x.options().dtype(at::kDouble));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "channel_moments", [&] {
    in_parts(layout, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      add_moments<scalar_t>(x, layout, begin, end, made.data_ptr<double>() + part * 3 * layout.channels);
    });
  });
  auto* const all = made.data_ptr<double>();
  for (std::int64_t part = 1; part < parts; ++part) {
    const auto* const other = all + part * 3 * layout.channels;
    for (std::int64_t c = 0; c < layout.channels; ++c) {
      if (other[c] > 0) {
        merge(all + c, all + layout.channels + c, all + 2 * layout.channels + c, other[c], other[layout.channels + c],
              other[2 * layout.channels + c]);
      }
    }
  }
  return made.select(0, 0).narrow(0, 1, 2);
}

at::Tensor channel_affine(const at::Tensor& given, const at::Tensor& center, const at::Tensor& scale,
                          const at::Tensor& shift) {
  const at::Tensor x = in_order(given);
  const at::Tensor y = at::empty_like(x);
  const Layout layout = layout_of(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "channel_affine", [&] {
    in_parts(layout, part_count(layout), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      Operand<scalar_t> centers(center, layout), scales(scale, layout), shifts(shift, layout);
      for_all(layout, begin, end, [&](const Block& block) {
        affine(x.data_ptr<scalar_t>() + block.first, centers.at(block), scales.at(block), shifts.at(block), block.rows,
               y.data_ptr<scalar_t>() + block.first);
      });
    });
  });
  return y;
}

at::Tensor channel_sums(const at::Tensor& given_dy, const at::Tensor& given, const at::Tensor& center) {
  const at::Tensor x = in_order(given);
  const at::Tensor dy = like(given_dy, x);
  const Layout layout = layout_of(x);
  const std::int64_t parts = part_count(layout);
  const at::Tensor made = at::zeros({parts, 2, layout.channels}, x.options().dtype(at::kDouble));
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "channel_sums", [&] {
    in_parts(layout, parts, [&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      add_sums<scalar_t>(dy, x, center, layout, begin, end, made.data_ptr<double>() + part * 2 * layout.channels);
    });
  });
  return parts == 1 ? made.select(0, 0) : made.sum(0);
}

at::Tensor channel_gradient(const at::Tensor& given_dy, const at::Tensor& given, const at::Tensor& center,
                            const at::Tensor& scale, const at::Tensor& factor, const at::Tensor& shift) {
  const at::Tensor x = in_order(given);
  const at::Tensor dy = like(given_dy, x);
  const at::Tensor dx = at::empty_like(x);
  const Layout layout = layout_of(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "channel_gradient", [&] {
    in_parts(layout, part_count(layout), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      Operand<scalar_t> centers(center, layout), scales(scale, layout), factors(factor, layout), shifts(shift, layout);
      for_all(layout, begin, end, [&](const Block& block) {
        gradient(dy.data_ptr<scalar_t>() + block.first, x.data_ptr<scalar_t>() + block.first, centers.at(block),
                 scales.at(block), factors.at(block), shifts.at(block), block.rows,
                 dx.data_ptr<scalar_t>() + block.first);
      });
    });
  });
  return dx;
}

}  // namespace renga
