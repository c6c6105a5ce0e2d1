// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "renga/comm/backend.hpp"
#include "renga/core/settings.hpp"

namespace renga {

class Environment;

namespace detail {
struct Group;
struct Pending;
}  // namespace detail

/// A communication that was started and not yet waited for. Copies share it. Dropping it without
/// waiting is allowed: the operation goes on and keeps its buffers alive.
class Request {
 public:
  Request() = default;  ///< already complete

  /// Makes progress without blocking; true once the operation is complete and its results are in place.
  bool done();

  /// Blocks until the operation is complete. A second call returns at once.
  /// @throws Timeout after `Settings::timeout`, naming the operation and its sequence number
  /// @throws CommunicationError if it failed; the communicator is broken from then on
  void wait();

 private:
  friend class Communicator;
  explicit Request(std::shared_ptr<detail::Pending> pending);
  std::shared_ptr<detail::Pending> pending_;
};

/// Processes that communicate with each other: a cheap value over a `Backend`, copies share it.
/// Arguments are validated here, once. Every collective must be called by all ranks in the same
/// order; with `RENGA_CHECK=1` a difference is a `Mismatch` on every rank. All calls of a process come
/// from one thread at a time.
///
/// Tensors are CPU tensors of any dtype and any strides, and may be empty; one that is written must not
/// overlap itself (`expand`). Elements travel in logical order, so ranks need not share a memory
/// layout; a contiguous tensor is sent and filled in place, any other is packed and copied back. (To
/// send a channels_last tensor without packing, pass its contiguous view `permute({0, 2, 3, 1})`.)
/// Autograd records none of this.
///
/// A group of one skips communication altogether, `all_gather` and the like return copies there as
/// they do elsewhere. After a `CommunicationError` or `Timeout` every later call throws
/// `CommunicationError`; `InvalidArgument` and `Mismatch` leave the communicator usable.
class Communicator {
 public:
  /// Collective: host names are exchanged (host name of each rank; `host` overrides it for tests).
  Communicator(std::shared_ptr<Backend> backend, Settings settings, std::optional<std::string> host = std::nullopt);

  /// A group of one process, without any communication library.
  static Communicator self(Settings settings = {});

  int rank() const;
  int size() const;
  int intra_rank() const;  ///< position among the ranks of this communicator on this host
  int intra_size() const;  ///< how many ranks of this communicator this host runs
  int inter_rank() const;  ///< index of this host; hosts are ordered by their lowest rank
  int inter_size() const;  ///< number of hosts
  /// Cores that the ranks of this communicator on this host may use, together.
  int host_cores() const;
  std::string backend_name() const;
  const Settings& settings() const;

  /// Ranks of one `color` form a communicator, ordered by (key, rank). Collective.
  /// A negative color takes part and gets a group of one.
  Communicator split(int color, int key) const;

  /// Memory for a buffer that is communicated often, from the backend; uninitialized, 1-d.
  at::Tensor allocate(std::int64_t elements, at::ScalarType dtype) const;

  // -- collectives; each blocks until the result is in place on this rank -------------------------

  /// In place. Half and bfloat16 are added in float; bool takes Sum/Max as "any", Prod/Min as "all".
  /// Same shape and dtype on every rank.
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::Sum) const;
  /// The reduction over ranks of their `inputs[rank()]`. `inputs` has one tensor a rank; `inputs[r]`
  /// has the same shape on every rank, different r may differ.
  at::Tensor reduce_scatter(const std::vector<at::Tensor>& inputs, ReduceOp op = ReduceOp::Sum) const;
  /// Every rank's tensor, in rank order; shapes may differ (they are exchanged first), dtype may not.
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) const;
  /// As above with known sizes: `outputs[r]` (any strides) is filled with rank r's tensor, which has as
  /// many elements. `input` may be `outputs[rank()]` itself.
  void all_gather_into(const std::vector<at::Tensor>& outputs, const at::Tensor& input) const;
  /// `inputs[r]` goes to rank r; returns what came, in rank order. Shapes are exchanged first.
  std::vector<at::Tensor> all_to_all(const std::vector<at::Tensor>& inputs) const;
  void all_to_all_into(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs) const;
  /// In place; every rank passes a tensor of root's shape and dtype.
  void broadcast(const at::Tensor& tensor, int root) const;
  /// On root every rank's tensor (shapes may differ); elsewhere empty.
  std::vector<at::Tensor> gather(const at::Tensor& tensor, int root) const;
  /// `inputs` on root only (one a rank, shapes may differ); returns this rank's.
  at::Tensor scatter(const std::vector<at::Tensor>& inputs, int root) const;
  void barrier() const;

  // -- point to point; the peer is another rank, 0 <= tag <= 32767 --------------------------------

  void send(const at::Tensor& tensor, int peer, int tag = 0) const;
  /// `tensor` has the shape and dtype that was sent.
  void receive(const at::Tensor& tensor, int peer, int tag = 0) const;

  // -- asynchronous forms: the result is in place after `wait()` ----------------------------------

  Request all_reduce_async(const at::Tensor& tensor, ReduceOp op = ReduceOp::Sum) const;
  Request all_gather_into_async(const std::vector<at::Tensor>& outputs, const at::Tensor& input) const;
  Request all_to_all_into_async(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& inputs) const;
  Request broadcast_async(const at::Tensor& tensor, int root) const;
  Request send_async(const at::Tensor& tensor, int peer, int tag = 0) const;
  Request receive_async(const at::Tensor& tensor, int peer, int tag = 0) const;

  // -- small host data -----------------------------------------------------------------------------

  /// Every rank's text, in rank order.
  std::vector<std::string> all_gather_text(const std::string& value) const;
  /// Root's text on every rank.
  std::string broadcast_text(const std::string& value, int root) const;
  /// Throws `Mismatch` on every rank when `value` is not the same everywhere; the message names
  /// `what`, the first rank that differs from rank 0, and both values.
  void require_same(const std::string& what, const std::string& value) const;

  /// Ends every process of the job. Does not return.
  [[noreturn]] void abort(int exit_code) const;

  /// Whether the two are copies of one communicator.
  bool operator==(const Communicator& other) const { return group_ == other.group_; }

 private:
  friend class Environment;  // tells the world's group of its processes
  explicit Communicator(std::shared_ptr<detail::Group> group);
  std::shared_ptr<detail::Group> group_;
};

}  // namespace renga
