// SPDX-License-Identifier: Apache-2.0
#include "self_backend.hpp"

#include <cstdio>
#include <cstdlib>

#include "renga/core/error.hpp"

namespace renga::detail {
namespace {

class Finished : public Work {
 public:
  bool test() override { return true; }
};

std::unique_ptr<Work> finished() { return std::make_unique<Finished>(); }

std::unique_ptr<Work> copied(const at::Tensor& output, const at::Tensor& input) {
  output.copy_(input);
  return finished();
}

}  // namespace

std::shared_ptr<Backend> SelfBackend::split(int, int) { return std::make_shared<SelfBackend>(job_); }

bool SelfBackend::reduces(at::ScalarType, ReduceOp) const { return true; }

std::unique_ptr<Work> SelfBackend::all_reduce(at::Tensor, ReduceOp) { return finished(); }

std::unique_ptr<Work> SelfBackend::reduce_scatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp) {
  return copied(output, inputs.at(0));
}

std::unique_ptr<Work> SelfBackend::all_gather(std::vector<at::Tensor> outputs, at::Tensor input) {
  return copied(outputs.at(0), input);
}

std::unique_ptr<Work> SelfBackend::all_to_all(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) {
  return copied(outputs.at(0), inputs.at(0));
}

std::unique_ptr<Work> SelfBackend::broadcast(at::Tensor, int) { return finished(); }

std::unique_ptr<Work> SelfBackend::gather(std::vector<at::Tensor> outputs, at::Tensor input, int) {
  return copied(outputs.at(0), input);
}

std::unique_ptr<Work> SelfBackend::scatter(at::Tensor output, std::vector<at::Tensor> inputs, int) {
  return copied(output, inputs.at(0));
}

std::unique_ptr<Work> SelfBackend::send(at::Tensor, int, int) {
  throw InvalidArgument("send: peer: expected another rank, got a group of one");
}

std::unique_ptr<Work> SelfBackend::receive(at::Tensor, int, int) {
  throw InvalidArgument("receive: peer: expected another rank, got a group of one");
}

std::unique_ptr<Work> SelfBackend::barrier() { return finished(); }

void SelfBackend::abort(int exit_code) {
  if (job_) {
    job_->abort(exit_code);
  }
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

}  // namespace renga::detail
