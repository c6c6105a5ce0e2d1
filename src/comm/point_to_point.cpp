// SPDX-License-Identifier: Apache-2.0
#include "renga/comm/communicator.hpp"

#include "arguments.hpp"
#include "buffers.hpp"
#include "group.hpp"
#include "plain_tensors.hpp"

namespace renga {

void Communicator::send(const at::Tensor& tensor, int peer, int tag) const { send_async(tensor, peer, tag).wait(); }

Request Communicator::send_async(const at::Tensor& tensor, int peer, int tag) const {
  const detail::PlainTensors guard;
  detail::check_input("send", "tensor", tensor);
  detail::check_peer("send", peer, tag, group_->rank, group_->size);
  detail::require_usable(*group_, "send");
  const detail::Call call{"send", ++group_->messages, peer};
  return Request(detail::start(
      group_, call, [&] { return group_->backend->send(detail::packed(tensor), peer, tag); }, [] {}));
}

void Communicator::receive(const at::Tensor& tensor, int peer, int tag) const {
  receive_async(tensor, peer, tag).wait();
}

Request Communicator::receive_async(const at::Tensor& tensor, int peer, int tag) const {
  const detail::PlainTensors guard;
  detail::check_output("receive", "tensor", tensor);
  detail::check_peer("receive", peer, tag, group_->rank, group_->size);
  detail::require_usable(*group_, "receive");
  const detail::Call call{"receive", ++group_->messages, peer};
  const at::Tensor buffer = detail::landing(tensor);
  return Request(detail::start(
      group_, call, [&] { return group_->backend->receive(buffer, peer, tag); }, [=] { detail::put(tensor, buffer); }));
}

}  // namespace renga
