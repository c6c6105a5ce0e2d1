// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace renga::detail {

/// Lets malloc keep the pages it was given, and asks for large ones: fresh pages cost a fifth of a large
/// convolution step, small ones a tenth (docs/decisions/0011-memory-of-a-process.md).
void keep_memory();

/// Compute threads of OpenMP, LibTorch and, where it runs its own, OpenBLAS.
void set_compute_threads(int count);

}  // namespace renga::detail
