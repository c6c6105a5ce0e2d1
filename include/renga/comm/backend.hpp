// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga {

/// How values of several ranks become one. Avg is the sum divided by the number of ranks and is
/// defined for floating and complex dtypes only; Min and Max are not defined for complex ones.
enum class ReduceOp { Sum, Avg, Min, Max, Prod };

const char* reduce_op_name(ReduceOp op);

/// One operation under way inside a backend. It owns every buffer it reads or writes until it is done.
class Work {
 public:
  virtual ~Work() = default;
  /// Makes progress without blocking; true when the operation has completed.
  /// @throws CommunicationError when it failed
  virtual bool test() = 0;
};

/// What moves bytes between ranks. Only `Communicator` calls it, with arguments it has validated:
/// every tensor is contiguous and on the CPU, roots and peers are in range, and reductions come only
/// in the dtypes and operators that `reduces` accepts (the communicator converts the others).
/// Every call but `split` starts an operation and returns at once. All ranks start collectives in one
/// order.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Ranks of one `color` form a new backend, ordered by (key, rank); a negative color takes part and
  /// gets a group of one. Collective.
  virtual std::shared_ptr<Backend> split(int color, int key) = 0;

  /// Memory for buffers that are communicated often. The default is ordinary memory; a backend may
  /// hand out memory that its peers can reach.
  virtual at::Tensor allocate(std::int64_t elements, at::ScalarType dtype);

  /// Whether `all_reduce` and `reduce_scatter` take this dtype and operator as they are.
  virtual bool reduces(at::ScalarType dtype, ReduceOp op) const = 0;

  /// In place on `buffer`; every rank ends with the same bits.
  virtual std::unique_ptr<Work> all_reduce(at::Tensor buffer, ReduceOp op) = 0;
  /// `inputs[r]` goes to rank r; `output` is the reduction of what the ranks sent here.
  virtual std::unique_ptr<Work> reduce_scatter(at::Tensor output, std::vector<at::Tensor> inputs, ReduceOp op) = 0;
  /// `outputs[r]` becomes rank r's `input`; sizes may differ between ranks and may be 0.
  virtual std::unique_ptr<Work> all_gather(std::vector<at::Tensor> outputs, at::Tensor input) = 0;
  /// `outputs[r]` becomes what rank r has in its `inputs[rank()]`.
  virtual std::unique_ptr<Work> all_to_all(std::vector<at::Tensor> outputs, std::vector<at::Tensor> inputs) = 0;
  virtual std::unique_ptr<Work> broadcast(at::Tensor buffer, int root) = 0;
  /// `outputs` is used on `root` only.
  virtual std::unique_ptr<Work> gather(std::vector<at::Tensor> outputs, at::Tensor input, int root) = 0;
  /// `inputs` is used on `root` only.
  virtual std::unique_ptr<Work> scatter(at::Tensor output, std::vector<at::Tensor> inputs, int root) = 0;
  virtual std::unique_ptr<Work> send(at::Tensor buffer, int peer, int tag) = 0;
  virtual std::unique_ptr<Work> receive(at::Tensor buffer, int peer, int tag) = 0;
  virtual std::unique_ptr<Work> barrier() = 0;

  /// Moves on what was started in this backend, also for peers. Called now and then by a wait for something else.
  virtual void progress() {}

  /// Ends every process of the job at once, with this exit code. Does not return.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace renga
