// SPDX-License-Identifier: Apache-2.0
#include "renga/mesh/device_mesh.hpp"

#include <algorithm>
#include <map>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

void validate(const DeviceMesh::AxisSizes& axes, int ranks) {
  std::int64_t product = 1;
  std::string equation;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [name, size] = axes[i];
    if (name.empty()) {
      throw InvalidArgument("DeviceMesh: an axis has no name");
    }
    if (size < 1) {
      throw InvalidArgument(text("DeviceMesh: axis ", name, ": expected a size of at least 1, got ", size));
    }
    const auto same = [&name](const auto& other) { return other.first == name; };
    if (std::count_if(axes.begin(), axes.end(), same) > 1) {
      throw InvalidArgument(text("DeviceMesh: axis ", name, " is named twice"));
    }
    product *= size;
    equation += text(i == 0 ? "" : " * ", name, "(", size, ")");
  }
  if (axes.size() > 32) {
    throw InvalidArgument(text("DeviceMesh: at most 32 axes, got ", axes.size()));
  }
  if (product != ranks) {
    throw InvalidArgument(text("DeviceMesh: ", equation.empty() ? "no axis" : equation, " = ", product,
                               ", but there are ", ranks, ranks == 1 ? " process" : " processes"));
  }
}

}  // namespace

struct DeviceMesh::State {
  Communicator world;
  std::vector<MeshAxis> axes;
  std::map<AxisSet, Communicator> groups;  // made on first use
};

DeviceMesh::DeviceMesh(Communicator world, AxisSizes axes) {
  validate(axes, world.size());
  world.require_same("DeviceMesh", [&axes] {
    std::string out;
    for (const auto& [name, size] : axes) {
      out += renga::text(out.empty() ? "" : ",", name, "=", size);
    }
    return out;
  }());
  state_ = std::make_shared<State>(State{std::move(world), {}, {}});
  int stride = state_->world.size();
  for (const auto& [name, size] : axes) {
    stride /= size;
    MeshAxis axis{name, size, state_->world.rank() / stride % size, Communicator::self(state_->world.settings())};
    state_->axes.push_back(std::move(axis));
  }
  for (std::size_t i = 0; i < state_->axes.size(); ++i) {
    state_->axes[i].communicator = over(AxisSet{1} << i);
  }
}

const Communicator& DeviceMesh::world() const { return state_->world; }

int DeviceMesh::axis_count() const { return static_cast<int>(state_->axes.size()); }

const MeshAxis& DeviceMesh::axis(int index) const { return state_->axes.at(static_cast<std::size_t>(index)); }

const MeshAxis& DeviceMesh::axis(const std::string& name) const {
  static const MeshAxis one{"", 1, 0, Communicator::self()};
  const int index = find_axis(name);
  return index < 0 ? one : axis(index);
}

int DeviceMesh::find_axis(const std::string& name) const {
  for (int i = 0; i < axis_count(); ++i) {
    if (axis(i).name == name) {
      return i;
    }
  }
  return -1;
}

Communicator DeviceMesh::over(AxisSet axes) const {
  AxisSet wide = 0;  // axes of size 1 add nobody
  int members = 1;
  for (int i = 0; i < axis_count(); ++i) {
    if ((axes >> i & 1U) != 0 && axis(i).size > 1) {
      wide |= AxisSet{1} << i;
      members *= axis(i).size;
    }
  }
  const auto found = state_->groups.find(wide);
  if (found != state_->groups.end()) {
    return found->second;
  }
  // Ranks with equal coordinates along all other axes belong together.
  int color = 0;
  for (int i = 0; i < axis_count(); ++i) {
    if ((wide >> i & 1U) == 0) {
      color = color * axis(i).size + axis(i).coordinate;
    }
  }
  const Communicator group = members == 1                      ? Communicator::self(state_->world.settings())
                             : members == state_->world.size() ? state_->world
                                                               : state_->world.split(color, state_->world.rank());
  return state_->groups.emplace(wide, group).first->second;
}

bool DeviceMesh::is_same_as(const DeviceMesh& other) const {
  return state_->world == other.state_->world && text() == other.text();
}

std::string DeviceMesh::text() const {
  std::string out;
  for (const auto& axis : state_->axes) {
    out += renga::text(out.empty() ? "" : ",", axis.name, "=", axis.size);
  }
  return out;
}

DeviceMesh::AxisSizes parse_axes(const std::string& axes_text) {
  DeviceMesh::AxisSizes axes;
  for (const auto& part : split_text(axes_text, ',')) {
    const auto equals = part.find('=');
    const std::string digits = equals == std::string::npos ? "" : part.substr(equals + 1);
    const bool number = !digits.empty() && digits.size() < 7 &&
                        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number || equals == 0) {
      throw UsageError(text("--mesh: expected AXIS=SIZE,… such as data=2,height=2, got \"", axes_text, "\""));
    }
    axes.emplace_back(part.substr(0, equals), std::stoi(digits));
  }
  if (axes.empty()) {
    throw UsageError("--mesh: expected AXIS=SIZE,… such as data=2,height=2, got nothing");
  }
  return axes;
}

}  // namespace renga
