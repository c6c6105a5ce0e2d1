// SPDX-License-Identifier: Apache-2.0
#include "renga/comm/communicator.hpp"

#include "group.hpp"
#include "plain_tensors.hpp"

namespace renga {
namespace {

// Puts the result in place and lets go of the buffers.
void conclude(detail::Pending& pending) {
  const detail::PlainTensors guard;
  pending.work.reset();
  pending.finish();
  pending.finish = nullptr;
  pending.over = true;
}

}  // namespace

Request::Request(std::shared_ptr<detail::Pending> pending) : pending_(std::move(pending)) {}

bool Request::done() {
  if (!pending_ || pending_->over) {
    return true;
  }
  detail::require_usable(*pending_->group, pending_->call.name);
  if (!detail::poll(*pending_->group, pending_->call, *pending_->work)) {
    return false;
  }
  conclude(*pending_);
  return true;
}

void Request::wait() {
  if (!pending_ || pending_->over) {
    return;
  }
  detail::require_usable(*pending_->group, pending_->call.name);
  detail::complete(*pending_->group, pending_->call, std::move(pending_->work));
  conclude(*pending_);
}

}  // namespace renga
