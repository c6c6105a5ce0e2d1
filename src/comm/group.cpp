// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <ATen/record_function.h>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "call_check.hpp"

namespace renga::detail {
namespace {

[[noreturn]] void fail(Group& group, const Call& call, const CommunicationError& error) {
  const std::string reason = call.text() + ": " + error.what();
  break_group(group, reason);
  throw CommunicationError(reason);
}

// What keeps `call` from ending, as far as that can be seen from here.
std::string cause(Group& group, const Call& call) {
  std::string known;
  if (!group.world_ranks.empty()) {
    known = call.peer < 0 ? group.watch->blame(group.world_ranks, {group.id, call.number, call.name})
                          : group.watch->stopped({group.world_ranks.at(static_cast<std::size_t>(call.peer))});
  }
  return known.empty() ? "; a rank is late, has ended, or is in another operation" : ": " + known;
}

// Does not name this rank: all that wait for the same absent one say the same, and it is printed once.
[[noreturn]] void time_out(Group& group, const Call& call) {
  const std::string who =
      call.peer < 0 ? renga::text("all ", group.size, " ranks") : renga::text("rank ", call.peer, " of ", group.size);
  const std::string reason =
      renga::text(call.text(), ": expected ", who, " within ", group.settings.timeout.count(), " s, got no completion",
                  cause(group, call), " (RENGA_TIMEOUT sets the limit)");
  break_group(group, reason);
  throw Timeout(reason);
}

}  // namespace

std::string Call::text() const {
  const std::string numbered = renga::text(name, " #", number);
  return peer < 0 ? numbered : renga::text(numbered, " with rank ", peer);
}

void require_usable(const Group& group, const char* operation) {
  group.watch->require_all();
  if (!group.broken.empty()) {
    throw CommunicationError(
        renga::text(operation, ": communicator: expected a working one, got one that broke in ", group.broken));
  }
}

void break_group(Group& group, const std::string& reason) {
  if (group.broken.empty()) {
    group.broken = reason;
  }
}

Call begin_collective(Group& group, const char* name, const std::function<std::string()>& describe) {
  require_usable(group, name);
  const Call call{name, ++group.collectives, -1};
  group.watch->begin(group.id, call.number, name);
  if (group.settings.check) {
    compare_calls(group, call, describe());
  }
  return call;
}

std::unique_ptr<Work> launch(Group& group, const Call& call, const std::function<std::unique_ptr<Work>()>& begin) {
  try {
    return begin();
  } catch (const CommunicationError& error) {
    fail(group, call, error);
  }
}

std::shared_ptr<Pending> start(const std::shared_ptr<Group>& group, const Call& call,
                               const std::function<std::unique_ptr<Work>()>& begin, std::function<void()> finish) {
  return std::make_shared<Pending>(Pending{group, call, launch(*group, call, begin), std::move(finish), false});
}

bool poll(Group& group, const Call& call, Work& work) {
  bool done = false;
  try {
    done = work.test();
  } catch (const CommunicationError& error) {
    fail(group, call, error);
  }
  if (!done) {
    group.engines->run();
  }
  if (!done && group.watch->lost()) {
    break_group(group, group.watch->fault());
    group.watch->require_all();
  }
  return done;
}

void complete(Group& group, const Call& call, std::unique_ptr<Work> work) {
  RECORD_FUNCTION(call.name, std::vector<c10::IValue>());  // so that profilers of operators show waits, too
  Backoff backoff(group.first_wait);
  while (!poll(group, call, *work)) {
    backoff.pause();
    if (backoff.waited() > group.settings.timeout) {
      time_out(group, call);
    }
  }
}

}  // namespace renga::detail
