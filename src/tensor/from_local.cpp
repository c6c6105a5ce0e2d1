// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/distributed.hpp"
#include "renga/tensor/rule.hpp"

namespace renga {
namespace {

struct Piece {
  std::string dtype;
  std::vector<std::int64_t> sizes;
};

std::vector<Piece> exchange_pieces(const at::Tensor& local, const Communicator& world) {
  std::string mine = c10::toString(local.scalar_type());
  for (const auto size : local.sizes()) {
    mine += text(" ", size);
  }
  std::vector<Piece> pieces;
  for (const auto& line : world.all_gather_text(mine)) {
    std::istringstream in(line);
    Piece piece;
    in >> piece.dtype;
    for (std::int64_t size = 0; in >> size;) {
      piece.sizes.push_back(size);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// Block index of any rank along the axes that shard `dim`.
std::int64_t block_of(const DeviceMesh& mesh, const Placements& placements, std::int64_t dim, int rank) {
  std::int64_t index = 0;
  int stride = mesh.world().size();
  for (int i = 0; i < mesh.axis_count(); ++i) {
    stride /= mesh.axis(i).size;
    if (placements[static_cast<std::size_t>(i)].is_shard(dim)) {
      index = index * mesh.axis(i).size + rank / stride % mesh.axis(i).size;
    }
  }
  return index;
}

[[noreturn]] void disagree(int rank, std::size_t dim, std::int64_t expected, std::int64_t got) {
  throw Mismatch(text("from_local: rank ", rank, ": dim ", dim, ": expected ", expected,
                      " as on the other ranks that hold the same block, got ", got));
}

}  // namespace

at::Tensor from_local(const at::Tensor& local, const DeviceMesh& mesh, const Placements& placements) {
  if (!local.defined() || is_dtensor(local)) {
    throw InvalidArgument("from_local: expected a plain tensor");
  }
  const auto pieces = exchange_pieces(local, mesh.world());
  const Piece& first = pieces.front();
  std::vector<std::int64_t> sizes(first.sizes.size(), 0);
  std::vector<Cuts> cuts(sizes.size());
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    if (pieces[rank].dtype != first.dtype || pieces[rank].sizes.size() != first.sizes.size()) {
      throw Mismatch(text("from_local: rank 0 has ", first.dtype, " ", sizes_text(first.sizes), ", rank ", rank,
                          " has ", pieces[rank].dtype, " ", sizes_text(pieces[rank].sizes)));
    }
  }
  make_spec(mesh, placements, first.sizes);  // placements fit the mesh and the dims
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    AxisSet axes = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      axes |= placements[i].is_shard(static_cast<std::int64_t>(d)) ? AxisSet{1} << i : 0;
    }
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(block_count(mesh, axes)), -1);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
      auto& size = blocks[static_cast<std::size_t>(
          block_of(mesh, placements, static_cast<std::int64_t>(d), static_cast<int>(rank)))];
      if (size >= 0 && size != pieces[rank].sizes[d]) {
        disagree(static_cast<int>(rank), d, size, pieces[rank].sizes[d]);
      }
      size = pieces[rank].sizes[d];
    }
    Cuts cut{0};
    for (const auto size : blocks) {
      cut.push_back(cut.back() + size);
    }
    sizes[d] = cut.back();
    cuts[d] = axes == 0 ? Cuts{} : cut;
  }
  return from_local(local, make_spec(mesh, placements, sizes, cuts));
}

}  // namespace renga
