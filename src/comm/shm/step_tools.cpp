// SPDX-License-Identifier: Apache-2.0
#include "step_tools.hpp"

#include <array>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

const char* kind_name(std::int32_t kind) {
  constexpr std::array names{"nothing",    "all_reduce", "reduce_scatter", "all_gather",
                             "all_to_all", "broadcast",  "barrier"};
  return kind > 0 && kind < static_cast<std::int32_t>(names.size()) ? names[static_cast<std::size_t>(kind)] : names[0];
}

}  // namespace

void announce(ShmRanks& ranks, ShmKind kind, std::int64_t argument, std::int64_t bytes, std::int64_t offset) {
  ranks.own_note() = {static_cast<std::int32_t>(kind), static_cast<std::int32_t>(argument), bytes, offset};
}

void require_same_step(const ShmRanks& ranks, int r, ShmKind kind, std::int64_t argument) {
  const Note& note = ranks.note(r);
  if (note.operation != static_cast<std::int32_t>(kind)) {
    throw CommunicationError(
        text("expected rank ", r, " in the same operation, got it in ", kind_name(note.operation)));
  }
  if (note.argument != static_cast<std::int32_t>(argument)) {
    throw CommunicationError(text("expected rank ", r, " with the same root, dtype and operator, got it with another"));
  }
}

void require_bytes(const ShmRanks& ranks, int r, std::int64_t expected) {
  if (ranks.note(r).bytes != expected) {
    throw CommunicationError(text("expected ", expected, " bytes from rank ", r, ", got ", ranks.note(r).bytes));
  }
}

}  // namespace renga::detail
