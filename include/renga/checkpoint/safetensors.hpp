// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace renga {

/// What a safetensors file says about one tensor.
struct TensorInfo {
  std::string name;
  at::ScalarType dtype = at::kFloat;
  std::vector<std::int64_t> sizes;

  bool operator==(const TensorInfo&) const = default;
};

/// Free text that travels in the header of a file ("__metadata__").
using Metadata = std::map<std::string, std::string>;

/// The dtype's name in a safetensors file ("F32").
/// @throws InvalidArgument for a dtype the format does not have
std::string safetensors_dtype(at::ScalarType dtype);

/// Writes a safetensors file tensor by tensor, so that only one of them need be in memory.
///
///     offset 0          8                8 + H
///     | H (u64, LE) | JSON, spaces | tensor 0 | tensor 1 | ...     H is a multiple of 8
///
/// The file appears under its name when `commit` returns, never half written (see `AtomicFile`).
/// Tensors lie in the order given: put those with larger elements first and every one is aligned.
class SafetensorsWriter {
 public:
  /// Opens the file and writes the header.
  /// @throws InvalidArgument for a name that appears twice, is "__metadata__" or is not UTF-8, or a
  ///         dtype the format does not have
  /// @throws FileError if the file cannot be written
  SafetensorsWriter(const std::string& path, std::vector<TensorInfo> tensors, const Metadata& metadata = {});
  ~SafetensorsWriter();

  /// Writes the next tensor of the list: a plain one of its dtype and sizes; any strides or device.
  /// @throws InvalidArgument if it is not that tensor, FileError if the file cannot be written
  void add(const at::Tensor& tensor);

  /// @throws InvalidArgument if tensors are missing, FileError if the file cannot be written
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a safetensors file. All that the header says is checked when the file is opened, so that a
/// truncated or damaged one is an error there and never a wrong number later. Not collective.
class SafetensorsReader {
 public:
  /// @throws FileError naming the path and what is wrong
  explicit SafetensorsReader(const std::string& path);
  ~SafetensorsReader();

  /// In the order of their data.
  const std::vector<TensorInfo>& tensors() const;
  const Metadata& metadata() const;
  bool contains(const std::string& name) const;
  /// @throws InvalidArgument if the file has no tensor of that name
  const TensorInfo& info(const std::string& name) const;

  /// The tensor in memory of its own (CPU, contiguous).
  /// @throws InvalidArgument if the file has no tensor of that name, FileError if it cannot be read
  at::Tensor read(const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace renga
