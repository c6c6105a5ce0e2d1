// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "renga/data/dataset.hpp"
#include "renga/data/loader.hpp"
#include "renga/data/sampler.hpp"
#include "renga/mesh/device_mesh.hpp"
#include "renga/tensor/spec.hpp"

namespace renga::data {

/// How a batch of some size lies on the mesh.
struct BatchSpecs {
  SpecPtr images;
  SpecPtr labels;
};

BatchSpecs make_specs(const DeviceMesh& mesh, const ImageShape& shape, std::int64_t count);

/// Checks everything a loader is given, and makes the sampler it asks for. No communication.
/// @throws InvalidArgument
Sampler make_sampler(const Dataset* dataset, const DeviceMesh& mesh, const LoaderOptions& options);

}  // namespace renga::data
