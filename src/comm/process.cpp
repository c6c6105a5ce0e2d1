// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>

namespace renga::detail {

void keep_memory() {
#ifdef M_MMAP_MAX
  constexpr int kNoBlocks = 0;
  constexpr int kNever = -1;
  constexpr int kTopPad = 64 << 20;
  mallopt(M_MMAP_MAX, kNoBlocks);
  mallopt(M_TRIM_THRESHOLD, kNever);
  mallopt(M_TOP_PAD, kTopPad);
#endif
}

void set_compute_threads(int count) {
  at::set_num_threads(count);
  // LibTorch does not pass the number on to a BLAS with threads of its own.
  using SetThreads = void (*)(int);
  if (void* found = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<SetThreads>(found)(count);
  }
}

}  // namespace renga::detail
