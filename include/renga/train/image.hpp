// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

namespace renga::train {

/// Writes a PNG file, which appears whole or not at all.
/// @param image  plain uint8 [H, W, 1] (grey) or [H, W, 3] (red, green, blue), H and W at least 1
/// @throws InvalidArgument for another tensor, FileError if the file cannot be written
void write_png(const std::string& path, const at::Tensor& image);

/// Arranges images row by row in a grid with 2 black pixels around and between them.
///
///     +-----------+
///     | 0 | 1 | 2 |    5 images, columns = 3
///     | 3 | 4 |   |
///     +-----------+
///
/// @param images   plain [N, C, H, W], C = 1 or 3, any floating dtype; -1 becomes 0 and 1 becomes
///                 255, values beyond are clamped and those that are not a number are black
/// @param columns  images in a row, at least 1; fewer images make a narrower grid
/// @return         uint8 [rows * (H + 2) + 2, columns * (W + 2) + 2, C]
/// @throws InvalidArgument for another tensor or number
at::Tensor image_grid(const at::Tensor& images, std::int64_t columns);

}  // namespace renga::train
