// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>

#include "renga/tensor/distributed.hpp"
#include "renga/tensor/spec.hpp"

namespace renga {

/// A reduction that was started and whose result is not yet in the tensor.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Waits, and puts the result in place: afterwards the memory is neither pending nor Partial.
  virtual void finish() = 0;
};

/// Where a view that cannot alias its base comes from, and how it is kept equal to it.
struct Source {
  at::Tensor base;
  /// The view of a whole, plain base; it must alias its argument unless `write_back` is given.
  std::function<at::Tensor(const at::Tensor& whole)> replay;
  /// Writes the view's value into the whole base; when empty, `replay(whole).copy_(value)`.
  std::function<void(const at::Tensor& whole, const at::Tensor& value)> write_back;
  std::uint64_t seen = 0;  ///< epoch of the base when this copy was read
  SpecPtr spec;            ///< how the copy is split; null when it is replicated
  /// The copy's strides do not say where its elements lie in the base: autograd would misread them.
  bool is_reordered = false;
};

/// The elements behind one or more tensors that alias each other on this rank.
struct Memory {
  at::Tensor root;                          ///< local tensor that covers all of it
  std::uint64_t epoch = 0;                  ///< counts writes
  AxisSet partial = 0;                      ///< axes along which the value is a sum not yet added up
  std::optional<std::uint64_t> zero_epoch;  ///< set to the epoch at which it was all zeros
  bool gradient = false;                    ///< a parameter's gradient: adding a Partial makes it Partial again
  std::shared_ptr<Pending> pending;
  std::optional<Source> source;

  bool is_known_zero() const { return zero_epoch == epoch; }
};

/// What a distributed tensor is: its piece, how the whole is split, and the memory it lies in.
/// Shallow copies (`detach`, `.data()`, `variable_data`, `set_data`) share one State; true views
/// have their own State and share the Memory.
struct State {
  at::Tensor local;
  SpecPtr spec;
  std::shared_ptr<Memory> memory;
};

/// The tensor object LibTorch sees: sizes, strides and offset of the whole tensor, the local tensor's
/// device and dtype, no storage. Strides are the true global ones: autograd rebuilds gradients of
/// views from them.
class DistributedImpl final : public c10::TensorImpl {
 public:
  DistributedImpl(std::shared_ptr<State> state, at::IntArrayRef strides, std::int64_t offset);

  const std::shared_ptr<State>& state() const { return state_; }
  void set_geometry(at::IntArrayRef sizes, at::IntArrayRef strides, std::int64_t offset);

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version,
                                                         bool allow_change) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version,
                                                         bool allow_change) const override;
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& other) override;
  const char* tensorimpl_type_name() const override { return "renga::DistributedImpl"; }

 private:
  c10::intrusive_ptr<TensorImpl> copy(bool allow_change) const;
  std::shared_ptr<State> state_;
};

/// @pre is_dtensor(tensor)
DistributedImpl& impl(const at::Tensor& tensor);
inline State& state(const at::Tensor& tensor) { return *impl(tensor).state(); }

// -- making distributed tensors -----------------------------------------------------------------------

/// A new tensor in memory of its own. Global strides are dense in the memory order of `order`
/// (another tensor's global strides; contiguous when it has another number of dims); `local` is copied
/// into that order if it has another, so that what can be viewed globally can be viewed locally. The
/// order is given, never read off the piece: an empty or one-channel piece fits any. With
/// `partial`, the value is a sum over those axes not yet added up. A tensor that is neither split nor
/// Partial takes the geometry of `local`, which is the same on every rank.
at::Tensor wrap(const at::Tensor& local, const SpecPtr& spec, at::IntArrayRef order = {}, AxisSet partial = 0);

/// A view: shares `base`'s memory. The strides and the offset are global.
at::Tensor wrap_view(const at::Tensor& base, const at::Tensor& local, const SpecPtr& spec, at::IntArrayRef strides,
                     std::int64_t offset);

/// Another tensor object over the same state.
at::Tensor wrap_state(const at::Tensor& tensor);

// -- access -------------------------------------------------------------------------------------------

/// Finishes a pending reduction and re-reads a view whose base was written. Every access to a local
/// tensor, a placement or the memory goes through this first.
void settle(Memory& memory);

/// Adds up a Partial value, in place, seen by all that share the memory. May communicate.
void resolve(const at::Tensor& tensor);

/// Whether the tensor stands for all of its memory, perhaps in another order: then what is done to all of
/// one is done to all of the other.
bool covers_memory(const at::Tensor& tensor);

/// Axes along which the value is Partial; 0 for a plain tensor.
AxisSet partial_axes(const at::Tensor& tensor);

/// This rank's piece (or summand), settled; a plain tensor is returned as it is.
const at::Tensor& local_tensor(const at::Tensor& tensor);

/// Records a write through `tensor`, and carries it into the base of a view that is a copy.
void written(const at::Tensor& tensor);

/// Makes `tensor` stand for another local value and spec; its memory is new.
void replace(const at::Tensor& tensor, const at::Tensor& local, const SpecPtr& spec, AxisSet partial = 0);

}  // namespace renga
