// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "renga/comm/communicator.hpp"

namespace renga {

/// A set of mesh axes; bit i stands for axis i.
using AxisSet = std::uint32_t;

/// One named direction of a mesh.
struct MeshAxis {
  std::string name;
  int size = 1;               ///< number of ranks along it
  int coordinate = 0;         ///< this rank's place along it
  Communicator communicator;  ///< the ranks that differ from this one only along this axis
};

/// Ranks arranged as a named product of axes: DeviceMesh(world, {{"data", 2}, {"height", 2}}).
/// Ranks are row-major in the order written, the last axis fastest. A cheap value, copies share it.
/// Two meshes are equal when they arrange the same communicator's ranks along the same axes.
class DeviceMesh {
 public:
  using AxisSizes = std::vector<std::pair<std::string, int>>;

  /// Collective over `world`.
  /// @throws InvalidArgument if the product of the sizes is not the number of ranks, a size is below
  ///         1, or a name is empty or appears twice
  DeviceMesh(Communicator world, AxisSizes axes);

  const Communicator& world() const;
  int axis_count() const;
  const MeshAxis& axis(int index) const;

  /// The axis of that name; one of size 1 if the mesh names none.
  const MeshAxis& axis(const std::string& name) const;

  /// Index of the axis of that name, or -1.
  int find_axis(const std::string& name) const;

  /// The ranks that differ from this one only along `axes`. The first call for a set is collective
  /// over the mesh; later ones are free.
  Communicator over(AxisSet axes) const;

  /// "data=2,height=2"
  std::string text() const;

  bool operator==(const DeviceMesh& other) const { return state_ == other.state_ || is_same_as(other); }

 private:
  bool is_same_as(const DeviceMesh& other) const;
  struct State;
  std::shared_ptr<State> state_;
};

/// Reads "data=2,height=2".
/// @throws UsageError for anything else
DeviceMesh::AxisSizes parse_axes(const std::string& axes_text);

}  // namespace renga
