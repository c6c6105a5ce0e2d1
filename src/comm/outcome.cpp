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

std::string or_unnamed(const char* message) { return *message == '\0' ? "an error without a message" : message; }

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
    sent.data_ptr<std::int64_t>()[1] = static_cast<std::int64_t>(std::hash<std::string>{}(own.message));
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

}  // namespace

Outcome attempt(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const UsageError& error) {
    return {kUsage, or_unnamed(error.what())};
  } catch (const c10::Error& error) {
    return {kFailed, or_unnamed(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return {kFailed, or_unnamed(error.what())};
  } catch (...) {
    return {kFailed, "an exception of unknown type"};
  }
}

Verdicts exchange_verdicts(Backend& backend, const Outcome& own, std::chrono::duration<double> limit) {
  Verdicts verdicts(static_cast<std::size_t>(backend.size()));
  const auto own_hash = std::hash<std::string>{}(own.message);
  verdicts[static_cast<std::size_t>(backend.rank())] = Verdict{own.exit_code, own_hash};
  try {
    Exchange exchange = begin(backend, own);
    Backoff backoff(FirstWait::Yield);
    bool over = false;
    while (!over && backoff.waited() <= limit) {
      const bool sent = settle(exchange.leaving);
      over = settle(exchange.arriving) && sent;
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

bool speaks(const Verdicts& verdicts, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  const auto same = [&](const std::optional<Verdict>& other) {
    return other && other->exit_code == verdicts[own]->exit_code && other->message_hash == verdicts[own]->message_hash;
  };
  return std::none_of(verdicts.begin(), verdicts.begin() + rank, same);
}

bool differ(const Verdicts& verdicts) {
  std::optional<std::uint64_t> first;
  for (const auto& verdict : verdicts) {
    if (!verdict || verdict->exit_code == 0) {
      continue;
    }
    if (first && *first != verdict->message_hash) {
      return true;
    }
    first = verdict->message_hash;
  }
  return false;
}

}  // namespace renga::detail
