// SPDX-License-Identifier: Apache-2.0
#include "renga/tensor/spec.hpp"

#include <algorithm>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

void validate(const DeviceMesh& mesh, const Placements& placements, const std::vector<std::int64_t>& sizes) {
  if (static_cast<int>(placements.size()) != mesh.axis_count()) {
    throw InvalidArgument(text("spec: expected ", mesh.axis_count(), " placements (one for each axis of ", mesh.text(),
                               "), got ", placements.size()));
  }
  for (const auto& placement : placements) {
    if (placement.is_partial()) {
      throw InvalidArgument("spec: Partial is not a way to split a tensor");
    }
    if (placement.is_shard() && (placement.dim() < 0 || placement.dim() >= static_cast<std::int64_t>(sizes.size()))) {
      throw InvalidArgument(
          text("spec: ", placement.text(), ": the tensor has ", sizes.size(), " dims: ", sizes_text(sizes)));
    }
  }
}

}  // namespace

std::int64_t Spec::numel() const {
  std::int64_t product = 1;
  for (const auto size : sizes) {
    product *= size;
  }
  return product;
}

bool Spec::is_split() const {
  return std::any_of(placements.begin(), placements.end(), [](Placement p) { return p.is_shard(); });
}

AxisSet Spec::axes_of(std::int64_t wanted) const {
  AxisSet axes = 0;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (placements[i].is_shard(wanted)) {
      axes |= AxisSet{1} << i;
    }
  }
  return axes;
}

std::int64_t Spec::block_index(std::int64_t wanted) const {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    if (placements[i].is_shard(wanted)) {
      const auto& axis = mesh.axis(static_cast<int>(i));
      index = index * axis.size + axis.coordinate;
    }
  }
  return index;
}

Range Spec::own(std::int64_t wanted) const {
  const auto& here = cuts[static_cast<std::size_t>(wanted)];
  return here.empty() ? Range{0, sizes[static_cast<std::size_t>(wanted)]} : block(here, block_index(wanted));
}

std::vector<std::int64_t> Spec::local_sizes() const {
  std::vector<std::int64_t> local(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    local[d] = own(static_cast<std::int64_t>(d)).size();
  }
  return local;
}

bool Spec::operator==(const Spec& other) const {
  return this == &other ||
         (sizes == other.sizes && placements == other.placements && cuts == other.cuts && mesh == other.mesh);
}

std::string Spec::text() const {
  return renga::text(sizes_text(sizes), " on ", mesh.text(), ": ", placements_text(placements));
}

std::int64_t block_count(const DeviceMesh& mesh, AxisSet axes) {
  std::int64_t count = 1;
  for (int i = 0; i < mesh.axis_count(); ++i) {
    if ((axes >> i & 1U) != 0) {
      count *= mesh.axis(i).size;
    }
  }
  return count;
}

SpecPtr make_spec(const DeviceMesh& mesh, const Placements& placements, std::vector<std::int64_t> sizes) {
  return make_spec(mesh, placements, std::move(sizes), {});
}

SpecPtr make_spec(const DeviceMesh& mesh, const Placements& placements, std::vector<std::int64_t> sizes,
                  std::vector<Cuts> cuts) {
  validate(mesh, placements, sizes);
  auto spec = std::make_shared<Spec>(Spec{mesh, placements, std::move(sizes), std::move(cuts)});
  spec->cuts.resize(spec->sizes.size());
  for (std::size_t d = 0; d < spec->sizes.size(); ++d) {
    const AxisSet axes = spec->axes_of(static_cast<std::int64_t>(d));
    if (axes == 0) {
      spec->cuts[d].clear();
      continue;
    }
    const std::int64_t blocks = block_count(mesh, axes);
    if (spec->cuts[d].empty()) {
      spec->cuts[d] = even_cuts(spec->sizes[d], blocks);
    }
    const Cuts& cut = spec->cuts[d];
    if (static_cast<std::int64_t>(cut.size()) != blocks + 1 || cut.front() != 0 || cut.back() != spec->sizes[d] ||
        !std::is_sorted(cut.begin(), cut.end())) {
      throw InvalidArgument(text("spec: dim ", d, " of length ", spec->sizes[d], ": cuts ", sizes_text(cut),
                                 " do not make ", blocks, " blocks of it"));
    }
  }
  return spec;
}

SpecPtr replicated_spec(const DeviceMesh& mesh, std::vector<std::int64_t> sizes) {
  const Placements placements(static_cast<std::size_t>(mesh.axis_count()));
  auto spec = std::make_shared<Spec>(Spec{mesh, placements, std::move(sizes), {}});
  spec->cuts.resize(spec->sizes.size());
  return spec;
}

}  // namespace renga
