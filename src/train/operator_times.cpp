// SPDX-License-Identifier: Apache-2.0
#include "renga/train/operator_times.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include <ATen/record_function.h>

namespace renga::train {
namespace {

using Clock = std::chrono::steady_clock;

// One call under way. LibTorch ends calls in the reverse order of their beginning, thread by thread.
struct Frame : at::ObserverContext {
  Clock::time_point begin = Clock::now();
  double children = 0.0;
  Frame* caller = nullptr;
};

struct Totals {
  std::mutex mutex;
  std::unordered_map<std::string, OperatorTime> by_name;
};

// LibTorch's callbacks are plain functions, so what they write to cannot be handed to them.
Totals& totals() {
  static Totals instance;
  return instance;
}

Frame*& innermost() {
  thread_local Frame* frame = nullptr;
  return frame;
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction&) {
  auto frame = std::make_unique<Frame>();
  frame->caller = innermost();
  innermost() = frame.get();
  return frame;
}

void on_end(const at::RecordFunction& call, at::ObserverContext* context) {
  auto* const frame = static_cast<Frame*>(context);
  const double seconds = std::chrono::duration<double>(Clock::now() - frame->begin).count();
  innermost() = frame->caller;
  if (frame->caller != nullptr) {
    frame->caller->children += seconds;
  }
  const std::string name = call.name();
  const std::lock_guard lock(totals().mutex);
  OperatorTime& total = totals().by_name[name];
  ++total.calls;
  total.self_seconds += seconds - frame->children;
}

}  // namespace

struct OperatorTimes::Recorder {
  at::CallbackHandle handle =
      at::addGlobalCallback(at::RecordFunctionCallback(&on_begin, &on_end).scopes({at::RecordScope::FUNCTION}));
};

OperatorTimes::OperatorTimes() {
  const std::lock_guard lock(totals().mutex);
  totals().by_name.clear();
  recorder_ = std::make_unique<Recorder>();
}

OperatorTimes::~OperatorTimes() { finish(); }

std::vector<OperatorTime> OperatorTimes::finish() {
  if (!recorder_) {
    return {};
  }
  at::removeCallback(recorder_->handle);
  recorder_.reset();
  const std::lock_guard lock(totals().mutex);
  std::vector<OperatorTime> times;
  for (auto& [name, time] : totals().by_name) {
    time.name = name;
    times.push_back(time);
  }
  std::ranges::sort(times, [](const auto& a, const auto& b) { return a.self_seconds > b.self_seconds; });
  return times;
}

}  // namespace renga::train
