// SPDX-License-Identifier: Apache-2.0
#pragma once

// Before a function whose loops are to be compiled once for each kind of vector unit; the program takes the best
// that its processor has.
#if defined(__x86_64__) && defined(__GNUC__)
#define RENGA_VECTORIZED [[gnu::target_clones("default", "arch=haswell", "arch=skylake-avx512")]]
#else
#define RENGA_VECTORIZED
#endif
