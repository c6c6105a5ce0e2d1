// SPDX-License-Identifier: Apache-2.0
#include "renga/comm/communicator.hpp"

#include <algorithm>
#include <cstdlib>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "buffers.hpp"
#include "call_check.hpp"
#include "group.hpp"
#include "plain_tensors.hpp"
#include "self_backend.hpp"
#include "texts.hpp"

namespace renga {
namespace {

using detail::Group;

// More ranks than cores: one that polls keeps the one it waits for from running.
detail::FirstWait first_wait(const detail::Position& position) {
  return position.intra_size > position.host_cores ? detail::FirstWait::Yield : detail::FirstWait::Spin;
}

// Without the check itself: whether the ranks agree on `check` is not known yet.
void exchange_places(Group& group, const detail::Place& own) {
  const detail::Call call{"communicator", ++group.collectives, -1};
  const std::string mode = group.settings.check ? "RENGA_CHECK=1" : "RENGA_CHECK=0";
  const std::vector<std::string> lines = detail::gather_texts(group, call, mode + '\n' + detail::place_text(own));
  const auto mode_of = [](const std::string& line) { return line.substr(0, line.find('\n')); };
  for (std::size_t rank = 0; rank < lines.size(); ++rank) {
    if (mode_of(lines[rank]) != mode_of(lines.front())) {
      throw Mismatch(text("communicator: RENGA_CHECK: rank 0 has ", mode_of(lines.front()), ", rank ", rank, " has ",
                          mode_of(lines[rank])));
    }
    group.places.push_back(detail::parse_place(lines[rank].substr(lines[rank].find('\n') + 1)));
  }
}

// Two groups of one rank differ in it: what was split, when, and into which part.
std::uint64_t child_id(const Group& parent, std::int64_t split, int color) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  return ((parent.id * kOdd + static_cast<std::uint64_t>(split)) * kOdd + static_cast<std::uint64_t>(color)) * kOdd;
}

// The ranks that call with this rank's color, in the order of their new ranks.
std::vector<std::size_t> members_of_color(Group& group, const detail::Call& call, int color, int key) {
  const auto own = static_cast<std::size_t>(group.rank);
  if (group.size == 1) {
    return {own};
  }
  const at::Tensor row = detail::empty({2}, at::kLong);
  row.data_ptr<std::int64_t>()[0] = color;
  row.data_ptr<std::int64_t>()[1] = key;
  const at::Tensor table = detail::gather_rows(group, call, row);
  if (color < 0) {
    return {own};
  }
  const auto* const rows = table.data_ptr<std::int64_t>();
  std::vector<std::size_t> members;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(group.size); ++rank) {
    if (rows[2 * rank] == color) {
      members.push_back(rank);
    }
  }
  std::stable_sort(members.begin(), members.end(),
                   [&](std::size_t a, std::size_t b) { return rows[2 * a + 1] < rows[2 * b + 1]; });
  return members;
}

}  // namespace

Communicator::Communicator(std::shared_ptr<detail::Group> group) : group_(std::move(group)) {}

Communicator::Communicator(std::shared_ptr<Backend> backend, Settings settings, std::optional<std::string> host)
    : group_(std::make_shared<Group>()) {
  if (!backend) {
    throw InvalidArgument("communicator: backend: expected one, got none");
  }
  const detail::PlainTensors guard;
  group_->rank = backend->rank();
  group_->size = backend->size();
  group_->backend = std::move(backend);
  group_->settings = std::move(settings);
  detail::Place own = detail::here();
  own.host = host.value_or(own.host);
  exchange_places(*group_, own);
  group_->position = detail::locate(group_->places, group_->rank);
  group_->first_wait = first_wait(group_->position);
}

Communicator Communicator::self(Settings settings) {
  return Communicator(std::make_shared<detail::SelfBackend>(), std::move(settings));
}

int Communicator::rank() const { return group_->rank; }

int Communicator::size() const { return group_->size; }

int Communicator::intra_rank() const { return group_->position.intra_rank; }

int Communicator::intra_size() const { return group_->position.intra_size; }

int Communicator::inter_rank() const { return group_->position.inter_rank; }

int Communicator::inter_size() const { return group_->position.inter_size; }

int Communicator::host_cores() const { return group_->position.host_cores; }

std::string Communicator::backend_name() const { return group_->backend->name(); }

const Settings& Communicator::settings() const { return group_->settings; }

Communicator Communicator::split(int color, int key) const {
  const detail::PlainTensors guard;
  const detail::Call call = detail::begin_collective(*group_, "split", [] { return std::string(); });
  // This wait is bounded, the split of an MPI communicator is not: after it every rank is known here.
  const std::vector<std::size_t> members = members_of_color(*group_, call, color, key);
  auto child = std::make_shared<Group>();
  child->backend = group_->backend->split(color, key);
  child->settings = group_->settings;
  child->rank = child->backend->rank();
  child->size = child->backend->size();
  child->watch = group_->watch;
  child->engines = group_->engines;
  child->id = child_id(*group_, call.number, color);
  for (const std::size_t member : members) {
    child->places.push_back(group_->places[member]);
    if (!group_->world_ranks.empty()) {
      child->world_ranks.push_back(group_->world_ranks[member]);
    }
  }
  child->position = detail::locate(child->places, child->rank);
  child->first_wait = group_->first_wait;
  return Communicator(std::move(child));
}

at::Tensor Communicator::allocate(std::int64_t elements, at::ScalarType dtype) const {
  if (elements < 0) {
    throw InvalidArgument(text("allocate: elements: expected 0 or more, got ", elements));
  }
  return group_->backend->allocate(elements, dtype);
}

void Communicator::abort(int exit_code) const {
  group_->backend->abort(exit_code);
  std::_Exit(exit_code);  // GCC forgets that a virtual function does not return
}

}  // namespace renga
