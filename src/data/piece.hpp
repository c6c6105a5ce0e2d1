// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "renga/core/partition.hpp"
#include "renga/data/dataset.hpp"

namespace renga::data {

/// One rank's part of a batch: plain tensors.
struct Piece {
  at::Tensor images;  ///< [n, C, rows, columns]
  at::Tensor labels;  ///< int64 [n]
};

/// The part of every image that a rank keeps.
struct Window {
  Range rows;
  Range columns;
};

/// Reads samples and cuts them to `window`. Runs in worker threads: uses neither LibTorch's dispatcher,
/// which may have distributed tensors in mind, nor its thread pool, which belongs to the training.
Piece read_piece(const Dataset& dataset, std::span<const std::int64_t> indices, const Window& window,
                 at::ScalarType dtype);

}  // namespace renga::data
