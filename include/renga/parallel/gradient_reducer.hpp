// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga {

struct ReducerOptions {
  std::int64_t bucket_bytes = 25 << 20;       ///< gradients are reduced together up to this many bytes
  std::int64_t first_bucket_bytes = 1 << 20;  ///< the first to be ready is smaller, so that it starts early
  std::int64_t alone_bytes = 1 << 18;         ///< one as large as this is reduced by itself, in its own memory
};

/// What a reducer has done, for tests and measurements.
struct ReducerStatistics {
  std::int64_t buckets = 0;   ///< in the present layout
  std::int64_t launches = 0;  ///< reductions started since the reducer was made
  std::int64_t rebuilds = 0;  ///< layouts made
};

/// Adds up parameters' gradients while backward runs, several at a time.
///
/// A gradient leaves backward Partial, as each rank's sum over its own samples. Whoever reads it gets the
/// right value, added up then and there, parameter by parameter; the reducer is the fast way: a hook on
/// each parameter copies its gradient into a bucket (a large one has its own memory for a bucket), full
/// buckets are all-reduced while backward goes on, and the first reader waits for the bucket. Results are the same bits either way on one bucket order.
///
/// The first backward teaches the order in which gradients become ready (rank 0's is used; a rank with
/// another set of gradients is a `Mismatch`); its buckets start when it ends. Later ones start as soon as
/// they are full, in that order. Parameters may be shared, unused, frozen and thawed; gradients may be
/// accumulated over several backwards, zeroed or dropped. A new set of gradients makes a new layout.
class GradientReducer {
 public:
  /// Collective only later, in the first backward. Plain parameters are left alone; one that appears
  /// twice counts once.
  explicit GradientReducer(const std::vector<at::Tensor>& parameters, ReducerOptions options = {});
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  ReducerStatistics statistics() const;

 private:
  class Engine;
  std::shared_ptr<Engine> engine_;
};

}  // namespace renga
