// SPDX-License-Identifier: Apache-2.0
#include "src/data/loader_setup.hpp"

#include <string>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"

namespace renga::data {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) {
    throw InvalidArgument("loader: " + message);
  }
}

std::int64_t global_batch_size(const DeviceMesh& mesh, const LoaderOptions& options) {
  require(!(options.batch_size && options.batch_per_process),
          "batch size: expected batch_size or batch_per_process, got both");
  if (options.batch_per_process) {
    require(*options.batch_per_process >= 1,
            text("batch_per_process: expected at least 1, got ", *options.batch_per_process));
    return *options.batch_per_process * mesh.axis("data").size;
  }
  constexpr std::int64_t kUsual = 64;
  const std::int64_t size = options.batch_size.value_or(kUsual);
  require(size >= 1, text("batch_size: expected at least 1, got ", size));
  return size;
}

}  // namespace

Sampler make_sampler(const Dataset* dataset, const DeviceMesh& mesh, const LoaderOptions& options) {
  require(dataset != nullptr, "expected a data set, got none");
  require(options.workers >= 0, text("workers: expected at least 0, got ", options.workers));
  require(options.workers == 0 || options.prefetch >= 1,
          text("prefetch: expected at least 1 with workers, got ", options.prefetch));
  require(at::isFloatingType(options.dtype),
          text("dtype: expected a floating one, got ", c10::toString(options.dtype)));
  return Sampler(dataset->size(), {.batch_size = global_batch_size(mesh, options),
                                   .seed = options.seed,
                                   .shuffle = options.shuffle,
                                   .last_batch = options.last_batch});
}

BatchSpecs make_specs(const DeviceMesh& mesh, const ImageShape& shape, std::int64_t count) {
  const AxisDims image_dims = batch(mesh);
  AxisDims label_dims;
  for (const auto& axis_dim : image_dims) {
    if (axis_dim.second == 0) {
      label_dims.push_back(axis_dim);
    }
  }
  return {make_spec(mesh, placements_of(mesh, image_dims), {count, shape.channels, shape.height, shape.width}),
          make_spec(mesh, placements_of(mesh, label_dims), {count})};
}

}  // namespace renga::data
