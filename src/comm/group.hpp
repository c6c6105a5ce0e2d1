// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "renga/comm/backend.hpp"
#include "renga/comm/communicator.hpp"
#include "renga/core/settings.hpp"

#include "backoff.hpp"
#include "engines.hpp"
#include "hosts.hpp"
#include "peer_watch.hpp"

namespace renga::detail {

/// What all copies of a communicator share.
struct Group {
  std::shared_ptr<Backend> backend;
  Settings settings;
  int rank = 0;
  int size = 1;
  std::vector<Place> places;  ///< one a rank
  Position position;
  FirstWait first_wait = FirstWait::Spin;
  std::int64_t collectives = 0;  ///< started so far; the same number on every rank
  std::int64_t messages = 0;     ///< point-to-point operations started so far by this rank
  std::string broken;            ///< what broke it; empty while it works
  std::shared_ptr<PeerWatch> watch = std::make_shared<PeerWatch>();  ///< of the job; one that watches nobody elsewhere
  std::vector<int> world_ranks;  ///< of this group's ranks, as `watch` knows them; empty when it watches nobody
  std::shared_ptr<Engines> engines = std::make_shared<Engines>();  ///< of the job
  std::uint64_t id = 0;  ///< the same on all ranks of the group, another for other groups of a rank
};

/// A started operation as messages name it: "all_reduce #17", "send #4 with rank 2".
struct Call {
  const char* name;
  std::int64_t number;
  int peer = -1;  ///< of a point-to-point operation
  std::string text() const;
};

/// One operation under way, with what to do on this rank once the backend is done with it.
struct Pending {
  std::shared_ptr<Group> group;
  Call call;
  std::unique_ptr<Work> work;
  std::function<void()> finish;
  bool over = false;  ///< the result is in place
};

/// @throws CommunicationError that says what broke the group or which process of the job is gone, if so
void require_usable(const Group& group, const char* operation);

/// Marks the group broken.
void break_group(Group& group, const std::string& reason);

/// Numbers a collective. With `Settings::check`, compares `describe()` (dtype, shape, root, …) with
/// the other ranks'.
/// @throws Mismatch on every rank
Call begin_collective(Group& group, const char* name, const std::function<std::string()>& describe);

/// Runs `begin`, which starts the operation in the backend; a failure breaks the group.
std::unique_ptr<Work> launch(Group& group, const Call& call, const std::function<std::unique_ptr<Work>()>& begin);

/// Whether `work` is done; a failure, also of a process that it may wait for, breaks the group.
bool poll(Group& group, const Call& call, Work& work);

/// Starts an operation whose result `finish` puts in place.
std::shared_ptr<Pending> start(const std::shared_ptr<Group>& group, const Call& call,
                               const std::function<std::unique_ptr<Work>()>& begin, std::function<void()> finish);

/// Waits until `work` is done, for at most `Settings::timeout`; a failure breaks the group.
void complete(Group& group, const Call& call, std::unique_ptr<Work> work);

}  // namespace renga::detail
