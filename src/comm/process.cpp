// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cstdint>
#include <cstdlib>

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace renga::detail {

namespace {

#ifdef M_MMAP_MAX
constexpr std::size_t kLargePage = std::size_t{2} << 20;

// glibc asks for large pages only when an environment variable tells it before the program starts. So the
// heap is grown once, as address space without memory behind it, and marked: what is allocated later lies in it.
void use_large_pages() {
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t reserve = memory / 2;
  void* const block = std::malloc(reserve);
  if (block == nullptr) {
    return;  // a limit on address space: ordinary pages then
  }
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + kLargePage - 1) / kLargePage * kLargePage;
  const auto end = reinterpret_cast<std::uintptr_t>(block) + reserve;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(block);
}
#endif

}  // namespace

void keep_memory() {
#ifdef M_MMAP_MAX
  constexpr int kNoBlocks = 0;
  constexpr int kNever = -1;
  constexpr int kTopPad = 64 << 20;
  constexpr int kOneHeap = 1;
  mallopt(M_MMAP_MAX, kNoBlocks);
  mallopt(M_TRIM_THRESHOLD, kNever);
  mallopt(M_TOP_PAD, kTopPad);
  mallopt(M_ARENA_MAX, kOneHeap);
  use_large_pages();
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
