// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "renga/comm/backend.hpp"

namespace renga::detail {

struct MpiOptions {
  /// Most elements of one MPI call, whose counts are ints; the same on every rank.
  std::int64_t chunk = std::int64_t{1} << 26;
};

/// MPI in this process.
class MpiStart {
 public:
  virtual ~MpiStart() = default;

  /// A new backend over all processes. Collective.
  virtual std::shared_ptr<Backend> world(MpiOptions options) = 0;

  /// Gives unfinished operations two seconds, then finalizes MPI unless someone else initialized it.
  virtual void finalize() = 0;
};

/// Initializes MPI unless that has been done.
/// @throws NotAvailable if this build has no MPI, or the MPI no MPI_THREAD_SERIALIZED
std::shared_ptr<MpiStart> start_mpi();

}  // namespace renga::detail
