// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/distributed.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <ATen/Functions.h>
#include <torch/csrc/autograd/custom_function.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/random.hpp"
#include "renga/tensor/redistribute.hpp"
#include "renga/tensor/rule.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

const DistributedImpl& checked_impl(const at::Tensor& tensor, const char* where) {
  if (!is_dtensor(tensor)) {
    throw InvalidArgument(
        text(where, ": expected a distributed tensor, got ", tensor.defined() ? "a plain one" : "an undefined one"));
  }
  return impl(tensor);
}

at::Tensor made(const at::Tensor& local, const SpecPtr& spec, const at::TensorOptions& options) {
  return wrap(local, spec).set_requires_grad(options.requires_grad());
}

at::TensorOptions plain(const at::TensorOptions& options) { return options.requires_grad(false); }

class Redistribute : public torch::autograd::Function<Redistribute> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& tensor,
                            const SpecPtr& target) {
    const LocalGuard guard;
    input_spec(*context, state(tensor).spec);
    const at::Tensor moved = piece(tensor, target);
    return wrap(moved.is_alias_of(state(tensor).local) ? moved.clone() : moved, target, tensor.strides());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {redistribute(gradients[0], input_spec(*context, nullptr)->placements), at::Tensor()};
  }

 private:
  // The spec travels in the context as a custom class would; a map from string to IValue holds no
  // C++ pointers, so it is kept in a capsule.
  struct Holder : torch::CustomClassHolder {
    SpecPtr spec;
  };

  static SpecPtr input_spec(torch::autograd::AutogradContext& context, const SpecPtr& set) {
    if (set != nullptr) {
      auto holder = c10::make_intrusive<Holder>();
      holder->spec = set;
      context.saved_data["spec"] = c10::IValue::make_capsule(holder);
    }
    const auto capsule = context.saved_data["spec"].toCapsule();
    return static_cast<Holder*>(capsule.get())->spec;
  }
};

}  // namespace

Placements placements_of(const DeviceMesh& mesh, const AxisDims& dims) {
  Placements placements(static_cast<std::size_t>(mesh.axis_count()));
  for (const auto& [name, dim] : dims) {
    const int index = mesh.find_axis(name);
    if (index < 0) {
      throw InvalidArgument(text("placement: the mesh ", mesh.text(), " has no axis ", name));
    }
    placements[static_cast<std::size_t>(index)] = Shard(dim);
  }
  return placements;
}

AxisDims batch(const DeviceMesh& mesh) {
  AxisDims dims;
  for (const auto& [name, dim] : AxisDims{{"data", 0}, {"height", 2}, {"width", 3}}) {
    if (mesh.find_axis(name) >= 0) {
      dims.emplace_back(name, dim);
    }
  }
  return dims;
}

at::Tensor shard(const at::Tensor& tensor, const DeviceMesh& mesh, const AxisDims& dims) {
  return shard(tensor, mesh, placements_of(mesh, dims));
}

at::Tensor shard(const at::Tensor& tensor, const DeviceMesh& mesh, const Placements& placements) {
  if (!tensor.defined() || is_dtensor(tensor)) {
    throw InvalidArgument("shard: expected a plain tensor; use redistribute for a distributed one");
  }
  const LocalGuard guard;
  Placements wrapped = placements;
  for (auto& placement : wrapped) {
    placement = placement.is_shard() ? Shard(wrap_dim(placement.dim(), tensor.dim())) : placement;
  }
  const auto spec = make_spec(mesh, wrapped, tensor.sizes().vec());
  return wrap(piece(tensor.detach(), spec).clone(), spec).set_requires_grad(tensor.requires_grad());
}

at::Tensor from_local(const at::Tensor& local_piece, const SpecPtr& spec) {
  const LocalGuard guard;
  return wrap(local_piece.detach(), spec).set_requires_grad(local_piece.requires_grad());
}

at::Tensor zeros(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                 at::TensorOptions options) {
  const LocalGuard guard;
  const auto spec = make_spec(mesh, placements, sizes.vec());
  return made(at::zeros(spec->local_sizes(), plain(options)), spec, options);
}

at::Tensor ones(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                at::TensorOptions options) {
  const LocalGuard guard;
  const auto spec = make_spec(mesh, placements, sizes.vec());
  return made(at::ones(spec->local_sizes(), plain(options)), spec, options);
}

at::Tensor rand(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                at::TensorOptions options) {
  const LocalGuard guard;
  const auto spec = make_spec(mesh, placements, sizes.vec());
  const at::Tensor tensor = made(at::empty(spec->local_sizes(), plain(options)), spec, options);
  fill_uniform(tensor, random_key(), 0.0, 1.0);
  return tensor;
}

at::Tensor randn(const DeviceMesh& mesh, at::IntArrayRef sizes, const Placements& placements,
                 at::TensorOptions options) {
  const LocalGuard guard;
  const auto spec = make_spec(mesh, placements, sizes.vec());
  const at::Tensor tensor = made(at::empty(spec->local_sizes(), plain(options)), spec, options);
  fill_normal(tensor, random_key(), 0.0, 1.0);
  return tensor;
}

at::Tensor local(const at::Tensor& tensor) {
  const LocalGuard guard;
  return local_tensor(tensor);
}

at::Tensor full(const at::Tensor& tensor) {
  const LocalGuard guard;
  return is_dtensor(tensor) ? whole(tensor) : tensor.detach();
}

at::Tensor redistribute(const at::Tensor& tensor, const Placements& wanted) {
  const State& here = *checked_impl(tensor, "redistribute").state();
  for (const auto& placement : wanted) {
    if (placement.is_partial()) {
      throw InvalidArgument("redistribute: a tensor cannot be made Partial");
    }
  }
  const auto target = make_spec(here.spec->mesh, wanted, here.spec->sizes);
  return Redistribute::apply(tensor, target);
}

Placements placements(const at::Tensor& tensor) {
  if (!is_dtensor(tensor)) {
    return {};
  }
  const State& here = state(tensor);
  settle(*here.memory);
  Placements all = here.spec->placements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((here.memory->partial >> i & 1U) != 0) {
      all[i] = Partial();
    }
  }
  return all;
}

SpecPtr spec(const at::Tensor& tensor) { return checked_impl(tensor, "spec").state()->spec; }

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return "undefined";
  }
  const std::string kind = c10::toString(tensor.scalar_type());
  if (!is_dtensor(tensor)) {
    return text(kind, " ", sizes_text(tensor.sizes()), " plain");
  }
  const State& here = state(tensor);
  return text(kind, " ", here.spec->text(), here.memory->partial != 0 ? " Partial" : "");
}

void print(const at::Tensor& tensor) {
  const at::Tensor value = full(tensor);
  if (is_dtensor(tensor) && state(tensor).spec->mesh.world().rank() != 0) {
    return;
  }
  std::ostringstream out;
  out << value << "\n";
  std::fputs(out.str().c_str(), stdout);
}

}  // namespace renga
