// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace renga {

/// How a tensor lies along one mesh axis.
class Placement {
 public:
  enum class Kind : std::uint8_t {
    Replicate,  ///< the same values on every rank
    Shard,      ///< one dim is cut into blocks, one a rank
    Partial,    ///< the value is the sum over ranks, not yet added up
  };

  constexpr Placement() = default;  ///< Replicate
  constexpr Placement(Kind kind, std::int64_t dim) : kind_(kind), dim_(dim) {}

  constexpr bool is_replicate() const { return kind_ == Kind::Replicate; }
  constexpr bool is_partial() const { return kind_ == Kind::Partial; }
  constexpr bool is_shard() const { return kind_ == Kind::Shard; }
  constexpr bool is_shard(std::int64_t dim) const { return is_shard() && dim_ == dim; }
  /// The dim that is cut; -1 when none is.
  constexpr std::int64_t dim() const { return dim_; }

  constexpr bool operator==(const Placement&) const = default;
  std::string text() const;

 private:
  Kind kind_ = Kind::Replicate;
  std::int64_t dim_ = -1;
};

constexpr Placement Replicate() { return {}; }
constexpr Placement Shard(std::int64_t dim) { return {Placement::Kind::Shard, dim}; }
constexpr Placement Partial() { return {Placement::Kind::Partial, -1}; }

/// One placement for each axis of a mesh, in the order of its axes.
using Placements = std::vector<Placement>;

/// "[Shard(0), Replicate]"
std::string placements_text(const Placements& placements);

}  // namespace renga
