// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "renga/data/dataset.hpp"
#include "renga/data/sampler.hpp"
#include "renga/mesh/device_mesh.hpp"

namespace renga::data {

struct LoaderOptions {
  /// Samples of a batch over all ranks (strong scaling); 64 when neither size is given.
  std::optional<std::int64_t> batch_size = std::nullopt;
  /// Samples for each place on the mesh's axis "data" (weak scaling); instead of `batch_size`.
  std::optional<std::int64_t> batch_per_process = std::nullopt;
  std::uint64_t seed = 0;  ///< of the epochs' orders
  Shuffle shuffle = Shuffle::EveryEpoch;
  int workers = 1;   ///< threads that read ahead; 0 reads in the calling thread when a batch is asked for
  int prefetch = 2;  ///< batches that are read ahead at most, at least one a worker
  at::ScalarType dtype = at::kFloat;  ///< of the images; any floating dtype
  LastBatch last_batch = LastBatch::Keep;
};

/// One global batch, as distributed tensors.
struct Batch {
  at::Tensor images;  ///< [N, C, H, W] in [-1, 1]; N on axis "data", H on "height", W on "width"
  at::Tensor labels;  ///< int64 [N], on axis "data"
};

/// A place in the endless sequence of batches.
struct LoaderPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  bool operator==(const LoaderPosition&) const = default;
};

/// Goes through a data set in global batches, one epoch each time it is iterated:
///
///     for (auto& [images, labels] : loader) { … }     // epoch 0; the next such loop is epoch 1
///
/// Every rank reads only its own samples and keeps only its own rows and columns; they are the same
/// whatever the mesh. Batches come in the sampler's order, the last one of an epoch may be smaller than
/// the others and smaller than the number of ranks. Reading runs ahead in worker threads; what goes
/// wrong there is thrown where the batch is asked for. Copies of a loader share its place.
class Loader {
 public:
  class Iterator;

  /// Collective over `mesh`: with more than one rank, one small exchange compares size, shape and
  /// options, so that ranks with different files do not wait for each other later.
  /// @throws InvalidArgument before that, for no data set, a size below 1, both batch sizes, workers below
  ///         0, prefetch below 1 with workers, or a dtype that is not floating
  /// @throws Mismatch on every rank, if ranks differ
  Loader(std::shared_ptr<const Dataset> dataset, const DeviceMesh& mesh, const LoaderOptions& options = {});

  /// Starts the next epoch, or the place given to `seek`. All ranks; no communication here or while
  /// iterating.
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  std::int64_t batch_size() const;  ///< of a full global batch; at most the size of the data set
  std::int64_t batches_per_epoch() const;

  /// The epoch that is under way or was last; before the first, the one that will come.
  std::int64_t epoch() const;

  /// What follows the batch handed out last, for saving: `seek` there to go on as if nothing had happened.
  LoaderPosition position() const;

  /// Lets the next `begin` start with this batch of this epoch. All ranks, no communication.
  /// @throws InvalidArgument for an epoch below 0 or a batch that an epoch does not have
  void seek(std::int64_t epoch, std::int64_t batch);

 private:
  struct State;
  struct Pass;
  std::shared_ptr<State> state_;
};

/// Walks through one epoch. Moves on through the batches; copies share their place. Destroying the last
/// copy stops the workers, after the batches they are at.
class Loader::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;

  Batch& operator*() const;
  Batch* operator->() const { return &**this; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const;

 private:
  friend class Loader;
  explicit Iterator(std::shared_ptr<Pass> pass);
  std::shared_ptr<Pass> pass_;
};

}  // namespace renga::data
