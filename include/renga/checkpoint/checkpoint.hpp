// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "renga/comm/communicator.hpp"

namespace torch::nn {
class Module;  // defined in <torch/nn/module.h>, which takes seconds to parse
}
namespace torch::optim {
class Optimizer;
}

namespace renga {

/// Writes a module's parameters and buffers, whole, under LibTorch's dotted names as a safetensors
/// file: the same bytes on every mesh. Tensors are gathered one at a time; rank 0 of their mesh
/// writes; all ranks return (or throw) only when the file is in place, so that any of them that
/// sees the path may read it at once. A tensor registered under two names is written under both;
/// undefined buffers are left out.
///
/// Collective over the mesh of the module's distributed tensors. Without any, the calling process
/// alone writes: where several processes hold the same plain module use the overload below.
/// Cost: one all-gather for each split tensor; rank 0 holds one whole tensor at a time.
/// @throws FileError on every rank if rank 0 cannot write; nothing half written remains, and an
///         older file of that name is untouched
/// @throws InvalidArgument before anything is communicated, if tensors lie on different meshes or
///         have a dtype the format lacks
void save(const std::string& path, const torch::nn::Module& module);

/// As above; rank 0 of `communicator`, which contains all ranks of the mesh, writes. Collective.
void save(const std::string& path, const torch::nn::Module& module, const Communicator& communicator);

/// Reads such a file, written on whatever mesh, into a module: each rank opens the file itself and
/// copies its own pieces in place, converting dtypes. Names and shapes must agree exactly.
///
/// Collective over the mesh of the module's distributed tensors (ranks agree on success); local
/// for a plain module. Cost: every rank reads the file once, one whole tensor in memory at a time.
/// @throws FileError on every rank if any rank cannot read the file, or if it does not fit: one
///         message lists all names that are missing, unexpected or of another shape or kind. The
///         module is then unchanged, unless reading fails in the middle of the data.
void load(const std::string& path, torch::nn::Module& module);

/// Writes what an optimizer remembers (moments, numbers of steps, and the learning rate of each group) as a
/// safetensors file: whole tensors, the same on every mesh, under the names that `module` gives the parameters, as
/// "layer.weight.exp_avg". Other options, such as betas, belong to the program. For Adam, AdamW, SGD, RMSprop, Adagrad.
///
/// Collective over the mesh of the parameters; the calling process alone writes if they are plain. Cost as for modules.
/// @throws InvalidArgument before anything is communicated, for another optimizer (LBFGS has no state for each
///         parameter), or a parameter that the module does not have
/// @throws FileError on every rank if rank 0 cannot write
void save(const std::string& path, const torch::optim::Optimizer& optimizer, const torch::nn::Module& module);

/// As above with the parameters' numbers in the optimizer for names: "0.exp_avg".
void save(const std::string& path, const torch::optim::Optimizer& optimizer);

/// Reads such a file, written on whatever mesh, into an optimizer of the same kind over the same parameters. State
/// takes dtype and placement of its parameter. Parameters that the file has no state for have none afterwards.
///
/// Collective over the mesh of the parameters.
/// @throws InvalidArgument as `save`
/// @throws FileError on every rank if any cannot read the file, or if it does not fit: another kind of optimizer,
///         other groups, unknown names, other shapes. The optimizer is then unchanged.
void load(const std::string& path, torch::optim::Optimizer& optimizer, const torch::nn::Module& module);
void load(const std::string& path, torch::optim::Optimizer& optimizer);

/// Tensors by name.
using NamedTensors = std::map<std::string, at::Tensor>;

/// As `save`, for tensors of any origin.
void save_tensors(const std::string& path, const NamedTensors& tensors);
void save_tensors(const std::string& path, const NamedTensors& tensors, const Communicator& communicator);

/// All tensors of a safetensors file: plain, whole, on the CPU. Not collective.
/// @throws FileError if it cannot be read or is damaged
NamedTensors load_tensors(const std::string& path);

}  // namespace renga
