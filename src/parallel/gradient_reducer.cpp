// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/gradient_reducer.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include "renga/core/text.hpp"
#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

#include "bucket.hpp"

namespace renga {
namespace {

// shared_ptr<Node> in some LibTorch versions, intrusive_ptr<Node> in others.
using Accumulator = decltype(torch::autograd::impl::grad_accumulator(std::declval<at::Tensor&>()));

// A gradient that a bucket can take: Partial, and alone in its memory (a weight's is often a transposed view of it).
std::shared_ptr<Memory> reducible(const at::Tensor& gradient) {
  if (!is_dtensor(gradient)) {
    return nullptr;
  }
  const State& here = state(gradient);
  const bool whole_memory = covers_memory(gradient);
  here.memory->gradient = whole_memory;
  const bool usable = whole_memory && here.memory->partial != 0 && !here.memory->pending && !here.memory->source;
  return usable ? here.memory : nullptr;
}

}  // namespace

class GradientReducer::Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(const std::vector<at::Tensor>& parameters, ReducerOptions options) : options_(options) {
    std::set<const c10::TensorImpl*> seen;
    for (const auto& parameter : parameters) {
      const bool trainable = parameter.is_leaf() && at::isFloatingType(parameter.scalar_type());
      if (is_dtensor(parameter) && trainable && seen.insert(parameter.unsafeGetTensorImpl()).second) {
        parameters_.push_back(parameter);
      }
    }
    accumulators_.resize(parameters_.size());
    places_.resize(parameters_.size(), Place{kNowhere, 0});
  }

  // Hooks hold this weakly: the autograd graph may outlive the model.
  void attach() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor parameter = parameters_[i];
      const bool frozen = !parameter.requires_grad();
      parameter.set_requires_grad(true);  // a frozen parameter has no accumulator, and may be thawed later
      accumulators_[i] = torch::autograd::impl::grad_accumulator(parameter);
      parameter.set_requires_grad(!frozen);
      accumulators_[i]->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [weak = weak_from_this(), i](const auto& outputs, const auto&) {
            if (const auto self = weak.lock()) {
              self->on_accumulated(i);
            }
            return outputs;
          }));
    }
  }

  const ReducerStatistics& statistics() const { return statistics_; }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  struct Place {
    std::size_t bucket;
    std::size_t slot;
  };
  struct Late {
    std::size_t parameter;
    std::weak_ptr<Memory> gradient;
  };
  struct Token {};

  void on_accumulated(std::size_t parameter) {
    if (backward_.expired()) {
      begin_backward();
    }
    const LocalGuard guard;
    const auto gradient = reducible(parameters_[parameter].grad());
    if (!gradient) {
      return;
    }
    if (block_count(state(parameters_[parameter]).spec->mesh, gradient->partial) == 1) {
      gradient->partial = 0;  // the sum of one rank's
      return;
    }
    const Place place = places_[parameter];
    if (place.bucket == kNowhere || place.bucket < next_launch_) {
      late_.push_back({parameter, gradient});
      return;
    }
    Bucket& bucket = *buckets_[place.bucket];
    Bucket::Slot& slot = bucket.slots()[place.slot];
    if (!bucket.fits(*gradient, slot)) {
      late_.push_back({parameter, gradient});
      return;
    }
    waiting_for_[place.bucket] -= slot.ready ? 0 : 1;
    bucket.put(slot, gradient);
    while (next_launch_ < buckets_.size() && waiting_for_[next_launch_] == 0) {
      launch(next_launch_++);
    }
  }

  // The token dies with the backward pass, also with one that throws; then all starts afresh.
  void begin_backward() {
    next_launch_ = 0;
    late_.clear();
    waiting_for_.assign(buckets_.size(), 0);
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      for (auto& slot : buckets_[b]->slots()) {
        slot.ready = false;
        waiting_for_[b] += parameters_[slot.parameter].requires_grad() ? 1 : 0;
      }
    }
    auto token = std::make_shared<Token>();
    backward_ = token;
    torch::autograd::Engine::get_default_engine().queue_callback([self = shared_from_this(), token]() mutable {
      self->end_backward();
      token.reset();
    });
  }

  void end_backward() {
    const LocalGuard guard;
    for (; next_launch_ < buckets_.size(); ++next_launch_) {
      launch(next_launch_);
    }
    const bool unknown = std::any_of(late_.begin(), late_.end(), [this](const Late& late) { return is_new(late); });
    if (unknown) {
      rebuild();
    }
    late_.clear();
    backward_.reset();
  }

  void launch(std::size_t b) {
    if (buckets_[b]->any_ready()) {
      buckets_[b]->launch();
      ++statistics_.launches;
    }
  }

  // Late because it has no fitting slot, rather than because its bucket went without it.
  bool is_new(const Late& late) const {
    const auto gradient = late.gradient.lock();
    if (!gradient || gradient->partial == 0) {
      return false;
    }
    const Place place = places_[late.parameter];
    return place.bucket == kNowhere ||
           !buckets_[place.bucket]->fits(*gradient, buckets_[place.bucket]->slots()[place.slot]);
  }

  // Buckets in the order in which gradients came, those of before first.
  void rebuild() {
    std::vector<Late> order;
    std::set<std::size_t> replaced;
    for (const auto& late : late_) {
      if (is_new(late) && replaced.insert(late.parameter).second) {
        order.push_back(late);
      }
    }
    agree(order);
    const std::size_t first_new = buckets_.size();
    std::map<std::pair<AxisSet, at::ScalarType>, std::size_t> open;
    for (const auto& late : order) {
      const auto gradient = late.gradient.lock();
      const bool alone = is_large(*gradient);
      const auto key = std::make_pair(gradient->partial, gradient->root.scalar_type());
      const auto found = open.find(key);
      const bool first = buckets_.empty() || (found != open.end() && found->second == 0);
      const std::int64_t limit = first ? options_.first_bucket_bytes : options_.bucket_bytes;
      std::size_t b = found == open.end() ? kNowhere : found->second;
      if (alone || b == kNowhere || buckets_[b]->bytes() >= limit) {
        b = buckets_.size();
        buckets_.push_back(std::make_unique<Bucket>(state(parameters_[late.parameter]).spec->mesh, key.first,
                                                    key.second,
                                                    alone ? Bucket::Buffer::Gradient : Bucket::Buffer::Own));
        if (!alone) {
          open[key] = b;
        }
      }
      places_[late.parameter] = {b, buckets_[b]->slots().size()};
      buckets_[b]->add(late.parameter, gradient->root.numel());
    }
    ++statistics_.rebuilds;
    statistics_.buckets = static_cast<std::int64_t>(buckets_.size());
    for (const auto& late : order) {
      const Place place = places_[late.parameter];
      buckets_[place.bucket]->put(buckets_[place.bucket]->slots()[place.slot], late.gradient.lock());
    }
    for (std::size_t b = first_new; b < buckets_.size(); ++b) {
      launch(b);
    }
    next_launch_ = buckets_.size();
  }

  // Decided by sizes and layout of the whole, which are the same on every rank.
  bool is_large(const Memory& gradient) const {
    return gradient.root.is_non_overlapping_and_dense() &&
           static_cast<std::int64_t>(gradient.root.nbytes()) >= options_.alone_bytes;
  }

  void agree(const std::vector<Late>& order) const {
    std::string mine;
    for (const auto& late : order) {
      mine += text(mine.empty() ? "" : " ", late.parameter);
    }
    if (!order.empty()) {
      state(parameters_[order.front().parameter])
          .spec->mesh.world()
          .require_same("order of gradients in backward", mine);
    }
  }

  ReducerOptions options_;
  ReducerStatistics statistics_;
  std::vector<at::Tensor> parameters_;
  std::vector<Accumulator> accumulators_;  // tensors hold theirs weakly
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<std::int64_t> waiting_for_;
  std::vector<Late> late_;
  std::size_t next_launch_ = 0;
  std::weak_ptr<Token> backward_;
};

GradientReducer::GradientReducer(const std::vector<at::Tensor>& parameters, ReducerOptions options)
    : engine_(std::make_shared<Engine>(parameters, options)) {
  engine_->attach();
}

GradientReducer::~GradientReducer() = default;

ReducerStatistics GradientReducer::statistics() const { return engine_->statistics(); }

}  // namespace renga
