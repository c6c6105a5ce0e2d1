// SPDX-License-Identifier: Apache-2.0
#include "outcome.hpp"

#include <algorithm>
#include <exception>

#include <c10/util/Exception.h>

#include "renga/core/error.hpp"

#include "backoff.hpp"
#include "buffers.hpp"

namespace renga::detail {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

// Once a process is lost, how long a rank waits for those that may be about to learn of it.
constexpr std::chrono::duration<double> kLoss{0.25};

std::uint64_t hash_of(const std::string& topic) { return std::hash<std::string>{}(topic); }

Outcome failure(int exit_code, const char* what) {
  const std::string message = *what == '\0' ? "an error without a message" : what;
  return {exit_code, message, message};
}

// The messages of one rank's end, to and from every other rank.
struct Exchange {
  std::vector<at::Tensor> received;
  std::vector<std::unique_ptr<Work>> arriving;
  std::vector<std::unique_ptr<Work>> leaving;
};

Exchange begin(Backend& backend, const Outcome& own) {
  Exchange exchange;
  for (int peer = 0; peer < backend.size(); ++peer) {
    at::Tensor sent = empty({2}, at::kLong);
    sent.data_ptr<std::int64_t>()[0] = own.exit_code;
    sent.data_ptr<std::int64_t>()[1] = static_cast<std::int64_t>(hash_of(own.topic));
    const bool self = peer == backend.rank();
    exchange.received.push_back(self ? sent : empty({2}, at::kLong));
    exchange.arriving.push_back(self ? nullptr : backend.receive(exchange.received.back(), peer, 0));
    exchange.leaving.push_back(self ? nullptr : backend.send(sent, peer, 0));
  }
  return exchange;
}

// Leaves null where the work is done; true when all are. Every work is polled: each may be the one
// that another rank waits for.
bool settle(std::vector<std::unique_ptr<Work>>& works) {
  for (std::unique_ptr<Work>& work : works) {
    if (work && work->test()) {
      work.reset();
    }
  }
  return std::all_of(works.begin(), works.end(), [](const auto& work) { return !work; });
}

// Whether all have been heard that can still be. Those that are gone have ended without a verdict.
bool is_over(Exchange& exchange, const PeerWatch& watch) {
  const bool sent = settle(exchange.leaving);
  if (settle(exchange.arriving) && sent) {
    return true;
  }
  if (!watch.lost()) {
    return false;
  }
  for (std::size_t rank = 0; rank < exchange.arriving.size(); ++rank) {
    if ((exchange.arriving[rank] || exchange.leaving[rank]) && !watch.has_ended(static_cast<int>(rank))) {
      return false;
    }
  }
  return true;
}

}  // namespace

Outcome attempt(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const UsageError& error) {
    return failure(kUsage, error.what());
  } catch (const c10::Error& error) {
    return failure(kFailed, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failure(kFailed, error.what());
  } catch (...) {
    return failure(kFailed, "an exception of unknown type");
  }
}

Verdicts exchange_verdicts(Backend& backend, const Outcome& own, std::chrono::duration<double> limit,
                           PeerWatch& watch) {
  Verdicts verdicts(static_cast<std::size_t>(backend.size()));
  verdicts[static_cast<std::size_t>(backend.rank())] = Verdict{own.exit_code, hash_of(own.topic)};
  try {
    Exchange exchange = begin(backend, own);
    Backoff backoff(FirstWait::Yield);
    bool aware = false;
    while (!is_over(exchange, watch) && backoff.waited() <= limit) {
      if (!aware && watch.lost()) {
        aware = true;
        watch.leaving();
        limit = std::min(limit, backoff.waited() + kLoss);
      }
      backoff.pause();
    }
    for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
      if (!exchange.arriving[rank]) {
        const auto* const record = exchange.received[rank].data_ptr<std::int64_t>();
        verdicts[rank] = Verdict{static_cast<int>(record[0]), static_cast<std::uint64_t>(record[1])};
      }
    }
  } catch (const std::exception&) {
    // The network is gone. The caller ends the job, as it does when a rank does not answer.
  }
  return verdicts;
}

bool all_known(const Verdicts& verdicts) {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.has_value(); });
}

bool any_failed(const Verdicts& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const auto& v) { return v && v->exit_code != 0; });
}

bool speaks(const Verdicts& verdicts, int rank, const Outcome& outcome) {
  const Verdict own = *verdicts[static_cast<std::size_t>(rank)];
  const auto same = [&](const std::optional<Verdict>& other) {
    return other && other->exit_code == own.exit_code && other->topic_hash == own.topic_hash;
  };
  const auto failed_so = [&](const std::optional<Verdict>& other) {
    return other && other->exit_code != 0 && other->topic_hash == hash_of(outcome.topic);
  };
  const bool learned_late = own.exit_code == 0;
  return std::none_of(verdicts.begin(), verdicts.begin() + rank, same) &&
         !(learned_late && std::any_of(verdicts.begin(), verdicts.end(), failed_so));
}

bool differ(const Verdicts& verdicts) {
  std::optional<std::uint64_t> first;
  for (const auto& verdict : verdicts) {
    if (!verdict || verdict->exit_code == 0) {
      continue;
    }
    if (first && *first != verdict->topic_hash) {
      return true;
    }
    first = verdict->topic_hash;
  }
  return false;
}

}  // namespace renga::detail
