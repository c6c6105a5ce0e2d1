// SPDX-License-Identifier: Apache-2.0
#include "texts.hpp"

#include <algorithm>
#include <functional>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "arguments.hpp"
#include "buffers.hpp"
#include "call_check.hpp"
#include "plain_tensors.hpp"

namespace renga {
namespace detail {
namespace {

constexpr std::size_t kLongestQuote = 400;

at::Tensor bytes_of(const std::string& value) {
  at::Tensor bytes = empty({static_cast<std::int64_t>(value.size())}, at::kByte);
  std::copy(value.begin(), value.end(), static_cast<char*>(bytes.data_ptr()));
  return bytes;
}

std::string text_of(const at::Tensor& bytes) {
  return {static_cast<const char*>(bytes.data_ptr()), static_cast<std::size_t>(bytes.numel())};
}

at::Tensor number(std::int64_t value) {
  at::Tensor out = empty({1}, at::kLong);
  *out.data_ptr<std::int64_t>() = value;
  return out;
}

std::string quote(const std::string& value) {
  return '"' + (value.size() > kLongestQuote ? value.substr(0, kLongestQuote) + "..." : value) + '"';
}

// Most calls find nothing: compare eight bytes a rank before the texts themselves.
bool all_hashes_equal(Group& group, const Call& call, const std::string& value) {
  const auto own = static_cast<std::int64_t>(std::hash<std::string>{}(value));
  const at::Tensor table = gather_rows(group, call, number(own));
  const auto* const hashes = table.data_ptr<std::int64_t>();
  for (std::int64_t rank = 1; rank < table.numel(); ++rank) {
    if (hashes[rank] != hashes[0]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> gather_texts(Group& group, const Call& call, const std::string& value) {
  if (group.size == 1) {
    return {value};
  }
  const at::Tensor own = bytes_of(value);
  const at::Tensor lengths = gather_rows(group, call, number(own.numel()));
  std::vector<at::Tensor> pieces;
  for (int rank = 0; rank < group.size; ++rank) {
    pieces.push_back(empty({lengths.data_ptr<std::int64_t>()[rank]}, at::kByte));
  }
  complete(group, call, launch(group, call, [&] { return group.backend->all_gather(pieces, own); }));
  std::vector<std::string> texts;
  for (const at::Tensor& piece : pieces) {
    texts.push_back(text_of(piece));
  }
  return texts;
}

}  // namespace detail

std::vector<std::string> Communicator::all_gather_text(const std::string& value) const {
  const detail::PlainTensors guard;
  if (group_->size == 1) {
    return {value};
  }
  const detail::Call call = detail::begin_collective(*group_, "all_gather_text", [] { return std::string(); });
  return detail::gather_texts(*group_, call, value);
}

std::string Communicator::broadcast_text(const std::string& value, int root) const {
  const detail::PlainTensors guard;
  detail::check_root("broadcast_text", root, group_->size);
  if (group_->size == 1) {
    return value;
  }
  Backend& backend = *group_->backend;
  const detail::Call call = detail::begin_collective(*group_, "broadcast_text", [&] { return text("root ", root); });
  const auto broadcast = [&](const at::Tensor& buffer) {
    detail::complete(*group_, call, detail::launch(*group_, call, [&] { return backend.broadcast(buffer, root); }));
  };
  const at::Tensor length = detail::number(static_cast<std::int64_t>(value.size()));
  broadcast(length);
  const at::Tensor bytes =
      group_->rank == root ? detail::bytes_of(value) : detail::empty({*length.data_ptr<std::int64_t>()}, at::kByte);
  broadcast(bytes);
  return detail::text_of(bytes);
}

void Communicator::require_same(const std::string& what, const std::string& value) const {
  const detail::PlainTensors guard;
  if (group_->size == 1) {
    return;
  }
  const detail::Call call = detail::begin_collective(*group_, "require_same", [&] { return what; });
  if (detail::all_hashes_equal(*group_, call, value)) {
    return;
  }
  const std::vector<std::string> all = detail::gather_texts(*group_, call, value);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all.front()) {
      throw Mismatch(
          text(what, ": rank 0 has ", detail::quote(all.front()), ", rank ", rank, " has ", detail::quote(all[rank])));
    }
  }
}

}  // namespace renga
