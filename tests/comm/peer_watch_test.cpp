// SPDX-License-Identifier: Apache-2.0
#include "src/comm/peer_watch.hpp"

#include <chrono>
#include <csignal>
#include <functional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "renga/core/error.hpp"

namespace renga::detail {
namespace {

using namespace std::chrono_literals;

/// A process that waits, after `action`, until it is ended.
class Child {
 public:
  explicit Child(const std::function<void()>& action = [] {}) : number_(::fork()) {
    if (number_ == 0) {
      action();
      while (true) {
        ::pause();
      }
    }
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// SIGKILL; leaves a zombie, as a launcher that has not looked yet.
  void kill() const { ::kill(number_, SIGKILL); }
  void stop() const {
    ::kill(number_, SIGSTOP);
    ::waitpid(number_, nullptr, WUNTRACED);
  }
  void end() {
    if (number_ > 0) {
      kill();
      ::waitpid(number_, nullptr, 0);
      number_ = 0;
    }
  }

  Peer as_peer(int rank, std::optional<Card> card = std::nullopt) const {
    return {rank, "rank " + std::to_string(rank), PeerProcess(identify_process(number_)), std::move(card)};
  }

 private:
  pid_t number_;
};

template <typename Condition>
bool soon(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(1ms);
  }
  return condition();
}

template <typename... Some>
std::vector<Peer> peers_of(Some&&... some) {
  std::vector<Peer> peers;
  (peers.push_back(std::forward<Some>(some)), ...);
  return peers;
}

Card see(const Card& card) { return Card::of(::getpid(), card.descriptor()).value(); }

void never(const std::string&) { ADD_FAILURE() << "the main thread was not stuck"; }

TEST(PeerProcess, KnowsWhetherItRunsIsStoppedOrHasEnded) {
  Child child;
  const PeerProcess process(identify_process(child.as_peer(1).process.id().number));
  EXPECT_FALSE(process.ended());
  EXPECT_FALSE(process.stopped());
  child.stop();
  EXPECT_TRUE(process.stopped());
  process.kill();
  EXPECT_TRUE(soon([&] { return process.ended(); })) << "also while it is a zombie";
  child.end();
  EXPECT_TRUE(process.ended());
  EXPECT_FALSE(process.stopped());
}

TEST(PeerProcess, IsNotALaterProcessOfTheSameNumber) {
  ProcessId id = own_process();
  EXPECT_FALSE(PeerProcess(id).ended());
  id.started -= 1;
  EXPECT_TRUE(PeerProcess(id).ended());
}

TEST(Card, IsSeenByOthers) {
  Card own;
  const Card seen = see(own);
  EXPECT_EQ(seen.end(), End::None);
  own.set_end(End::Spoken);
  own.set_progress(7, 12, "a name that is longer than what fits");
  EXPECT_EQ(seen.end(), End::Spoken);
  EXPECT_EQ(seen.progress().group, 7U);
  EXPECT_EQ(seen.progress().number, 12);
  EXPECT_EQ(seen.progress().name, "a name that is longer th");
}

TEST(Card, OfNobodyIsNothing) {
  EXPECT_FALSE(Card::of(::getpid(), -1));
  EXPECT_FALSE(Card::of(::getpid(), 0)) << "a file, but not a card";
}

TEST(PeerWatch, NamesThePeerThatIsGone) {
  const Child one;
  const Child two;
  PeerWatch watch(peers_of(one.as_peer(1), two.as_peer(2)), Card(), never);
  EXPECT_NO_THROW(watch.require_all());
  two.kill();
  ASSERT_TRUE(soon([&] { return watch.lost(); }));
  EXPECT_NE(watch.fault().find("rank 2 has ended"), std::string::npos) << watch.fault();
  EXPECT_THROW(watch.require_all(), CommunicationError);
  EXPECT_TRUE(watch.has_ended(2));
  EXPECT_FALSE(watch.has_ended(1));
}

TEST(PeerWatch, LooksForItselfWhenAsked) {
  const Child one;
  PeerWatch watch(peers_of(one.as_peer(1)), Card(), never);
  EXPECT_NO_THROW(watch.look());
  const PeerProcess process(one.as_peer(1).process.id());
  one.kill();
  ASSERT_TRUE(soon([&] { return process.ended(); }));
  EXPECT_THROW(watch.look(), CommunicationError);
  EXPECT_TRUE(watch.lost());
}

TEST(PeerWatch, AnAgreedEndIsNoLoss) {
  Card card;
  const Child one;
  const Child two;
  PeerWatch watch(peers_of(one.as_peer(1, see(card)), two.as_peer(2)), Card(), never);
  card.set_end(End::Agreed);
  one.kill();
  ASSERT_TRUE(soon([&] { return watch.has_ended(1); }));
  two.kill();
  ASSERT_TRUE(soon([&] { return watch.lost(); }));
  EXPECT_NE(watch.fault().find("rank 2 has ended"), std::string::npos) << watch.fault();
}

TEST(PeerWatch, EndsAProcessWhoseMainThreadDoesNotCome) {
  const Child one;
  std::atomic<bool> was_stuck{false};
  std::string said;
  PeerWatch watch(peers_of(one.as_peer(1)), Card(), [&](const std::string& message) {
    said = message;
    was_stuck = true;
  });
  one.kill();
  ASSERT_TRUE(soon([&] { return was_stuck.load(); }));
  EXPECT_EQ(said, watch.fault());
}

TEST(PeerWatch, SaysNothingThatAnotherRankHasSaid) {
  Card card;
  card.set_end(End::Spoken);
  const Child one;
  std::atomic<bool> was_stuck{false};
  std::string said = "nothing yet";
  PeerWatch watch(peers_of(one.as_peer(1, see(card))), Card(), [&](const std::string& message) {
    said = message;
    was_stuck = true;
  });
  one.kill();
  ASSERT_TRUE(soon([&] { return was_stuck.load(); }));
  EXPECT_EQ(said, "");
  EXPECT_TRUE(watch.others_have_spoken());
}

TEST(PeerWatch, BlamesTheRankThatIsStopped) {
  const Child one;
  const Child two;
  PeerWatch watch(peers_of(one.as_peer(1), two.as_peer(2)), Card(), never);
  EXPECT_EQ(watch.blame({0, 1, 2}, {1, 5, "barrier"}), "");
  two.stop();
  EXPECT_EQ(watch.blame({0, 1}, {1, 5, "barrier"}), "") << "not in that group";
  EXPECT_EQ(watch.blame({0, 1, 2}, {1, 5, "barrier"}), "rank 2 is stopped");
  EXPECT_EQ(watch.fault(), "rank 2 is stopped");
  EXPECT_FALSE(watch.lost());
  watch.kill_stopped();
  EXPECT_TRUE(soon([&] { return watch.has_ended(2); }));
  EXPECT_FALSE(watch.has_ended(1));
  watch.leaving();
}

TEST(PeerWatch, BlamesTheRanksThatAreElsewhere) {
  Card one;
  Card two;
  Card three;
  const Child child;
  PeerWatch watch(peers_of(child.as_peer(1, see(one)), child.as_peer(2, see(two)), child.as_peer(3, see(three))),
                  Card(), never);
  one.set_progress(1, 4, "all_reduce");
  two.set_progress(1, 5, "broadcast");
  three.set_progress(9, 5, "barrier");
  EXPECT_EQ(
      watch.blame({0, 1, 2, 3}, {1, 5, "barrier"}),
      "rank 1 has not come, it was last in all_reduce #4, rank 2 is in broadcast #5, rank 3 was last in barrier #5"
      " of another communicator");
  EXPECT_EQ(watch.blame({0, 2}, {1, 4, "barrier"}), "") << "it is past that";
}

TEST(PeerWatch, OfNobodyIsAlwaysContent) {
  PeerWatch watch;
  watch.begin(1, 1, "barrier");
  watch.set_end(End::Agreed);
  watch.leaving();
  EXPECT_FALSE(watch.lost());
  EXPECT_EQ(watch.fault(), "");
  EXPECT_NO_THROW(watch.require_all());
}

}  // namespace
}  // namespace renga::detail
