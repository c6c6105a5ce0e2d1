// SPDX-License-Identifier: Apache-2.0
#include "renga/data/loader.hpp"

#include <span>
#include <utility>
#include <vector>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"

#include "src/data/loader_setup.hpp"
#include "src/data/prefetcher.hpp"

namespace renga::data {

struct Loader::State {
  State(std::shared_ptr<const Dataset> given, const DeviceMesh& mesh, const LoaderOptions& chosen)
      : dataset(std::move(given)), sampler(make_sampler(dataset.get(), mesh, chosen)), options(chosen) {}

  void agree(const DeviceMesh& mesh) const;
  const BatchSpecs& specs_of(std::int64_t batch) const {
    return sampler.batch_range(batch).size() == sampler.batch_range(0).size() ? full : last;
  }

  std::shared_ptr<const Dataset> dataset;
  Sampler sampler;
  LoaderOptions options;
  BatchSpecs full;  // kept, so that operators find their plans by the same spec each step
  BatchSpecs last;
  LoaderPosition start;  // of the next pass
  LoaderPosition position;
  std::int64_t epoch = 0;
};

void Loader::State::agree(const DeviceMesh& mesh) const {
  const ImageShape shape = dataset->shape();
  mesh.world().require_same(
      "data loader", text(dataset->size(), " samples [", shape.channels, ", ", shape.height, ", ", shape.width, "], ",
                          dataset->classes(), " classes, batch ", sampler.batch_range(0).size(), ", ",
                          sampler.batches_per_epoch(), " batches an epoch, ", c10::toString(options.dtype), ", seed ",
                          options.seed, options.shuffle == Shuffle::Never ? ", in order" : ", shuffled"));
}

// One epoch under way. It holds the state, so an iterator may outlive its loader.
struct Loader::Pass {
  Pass(std::shared_ptr<State> shared, LoaderPosition start)
      : state(std::move(shared)),
        epoch(start.epoch),
        batch(start.batch),
        reader({start.batch, state->sampler.batches_per_epoch()}, state->options.workers, state->options.prefetch,
               reading(state, epoch)) {}

  static Prefetcher::Read reading(const std::shared_ptr<const State>& state, std::int64_t epoch);
  // Makes `current` the next batch; false after the last.
  bool advance();

  std::shared_ptr<State> state;
  std::int64_t epoch;
  std::int64_t batch;
  Batch current;
  Prefetcher reader;
};

Prefetcher::Read Loader::Pass::reading(const std::shared_ptr<const State>& state, std::int64_t epoch) {
  // Of the state, workers use only what never changes after the loader is made.
  return [state,
          order = std::make_shared<const std::vector<std::int64_t>>(state->sampler.order(epoch))](std::int64_t item) {
    const Spec& spec = *state->specs_of(item).images;
    const Range own = spec.own(0);
    const auto first = static_cast<std::size_t>(state->sampler.batch_range(item).begin + own.begin);
    const auto indices = std::span(*order).subspan(first, static_cast<std::size_t>(own.size()));
    return read_piece(*state->dataset, indices, {spec.own(2), spec.own(3)}, state->options.dtype);
  };
}

bool Loader::Pass::advance() {
  current = {};
  auto piece = reader.next();
  if (!piece) {
    return false;
  }
  const BatchSpecs& specs = state->specs_of(batch);
  current = {from_local(piece->images, specs.images), from_local(piece->labels, specs.labels)};
  ++batch;
  state->epoch = epoch;
  state->position =
      batch == state->sampler.batches_per_epoch() ? LoaderPosition{epoch + 1, 0} : LoaderPosition{epoch, batch};
  return true;
}

Loader::Loader(std::shared_ptr<const Dataset> dataset, const DeviceMesh& mesh, const LoaderOptions& options)
    : state_(std::make_shared<State>(std::move(dataset), mesh, options)) {
  state_->agree(mesh);
  const auto& sampler = state_->sampler;
  const ImageShape shape = state_->dataset->shape();
  state_->full = make_specs(mesh, shape, sampler.batch_range(0).size());
  state_->last = make_specs(mesh, shape, sampler.batch_range(sampler.batches_per_epoch() - 1).size());
}

Loader::Iterator Loader::begin() {
  const LoaderPosition start = state_->start;
  auto pass = std::make_shared<Pass>(state_, start);
  state_->start = {start.epoch + 1, 0};
  return Iterator(std::move(pass));
}

std::int64_t Loader::batch_size() const { return state_->sampler.batch_range(0).size(); }

std::int64_t Loader::batches_per_epoch() const { return state_->sampler.batches_per_epoch(); }

std::int64_t Loader::epoch() const { return state_->epoch; }

LoaderPosition Loader::position() const { return state_->position; }

void Loader::seek(std::int64_t epoch, std::int64_t batch) {
  if (epoch < 0) {
    throw InvalidArgument(text("loader: epoch: expected at least 0, got ", epoch));
  }
  if (batch < 0 || batch >= batches_per_epoch()) {
    throw InvalidArgument(text("loader: batch: expected 0 to ", batches_per_epoch() - 1, ", got ", batch));
  }
  state_->start = state_->position = {epoch, batch};
  state_->epoch = epoch;
}

Loader::Iterator::Iterator(std::shared_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }

Batch& Loader::Iterator::operator*() const { return pass_->current; }

Loader::Iterator& Loader::Iterator::operator++() {
  if (!pass_->advance()) {
    pass_.reset();
  }
  return *this;
}

bool Loader::Iterator::operator==(std::default_sentinel_t) const { return pass_ == nullptr; }

}  // namespace renga::data
