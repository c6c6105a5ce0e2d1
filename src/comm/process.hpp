// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace renga::detail {

/// Lets malloc keep the pages it was given: fresh ones cost a fifth of a large convolution step.
void keep_memory();

/// Compute threads of OpenMP, LibTorch and, where it runs its own, OpenBLAS.
void set_compute_threads(int count);

}  // namespace renga::detail
