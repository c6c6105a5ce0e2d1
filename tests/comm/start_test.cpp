// SPDX-License-Identifier: Apache-2.0
// The parts of starting and ending a job that need no second process.
#include <map>
#include <stdexcept>

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "renga/core/error.hpp"

#include "src/comm/discovery.hpp"
#include "src/comm/hosts.hpp"
#include "src/comm/outcome.hpp"

namespace renga::detail {
namespace {

Launcher discover_in(const std::map<std::string, std::string>& variables) {
  return discover([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(Discover, FindsWhatMpiWillFind) {
  EXPECT_EQ(discover_in({{"OMPI_COMM_WORLD_SIZE", "1"}}), Launcher::Mpi);
  EXPECT_EQ(discover_in({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}), Launcher::Mpi);
  EXPECT_EQ(discover_in({{"PMIX_RANK", "0"}}), Launcher::Mpi);
}

TEST(Discover, IsAloneWithoutALauncher) {
  EXPECT_EQ(discover_in({}), Launcher::None);
  EXPECT_EQ(discover_in({{"WORLD_SIZE", "1"}}), Launcher::None);
}

TEST(Discover, ABatchScriptIsAlone) {
  EXPECT_EQ(discover_in({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}), Launcher::None);
  EXPECT_EQ(discover_in({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}),
            Launcher::None);
}

TEST(Discover, TasksThatCannotMeetAreAnError) {
  EXPECT_THROW(discover_in({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_PROCID", "1"}}),
               NotAvailable);
  EXPECT_THROW(discover_in({{"WORLD_SIZE", "2"}, {"RANK", "0"}}), NotAvailable);
}

TEST(Locate, CountsHostsInTheOrderOfTheirLowestRank) {
  const std::vector<Place> places{{"b", {0}}, {"a", {0, 1}}, {"b", {1}}, {"a", {0, 1}}, {"b", {0}}};

  const Position last = locate(places, 4);
  const Position third = locate(places, 3);

  EXPECT_EQ(last.intra_rank, 2);
  EXPECT_EQ(last.intra_size, 3);
  EXPECT_EQ(last.inter_rank, 0);
  EXPECT_EQ(last.inter_size, 2);
  EXPECT_EQ(last.host_cores, 2);
  EXPECT_EQ(third.intra_rank, 1);
  EXPECT_EQ(third.inter_rank, 1);
}

TEST(Place, ReadsWhatItWrote) {
  const Place place{"a host", {0, 3, 17}};

  const Place read = parse_place(place_text(place));

  EXPECT_EQ(read.host, place.host);
  EXPECT_EQ(read.cores, place.cores);
  EXPECT_FALSE(here().cores.empty());
}

TEST(Attempt, TurnsWhatIsThrownIntoACodeAndAMessage) {
  EXPECT_EQ(attempt([] {}).exit_code, 0);
  EXPECT_EQ(attempt([] { throw UsageError("what?"); }).exit_code, 2);
  EXPECT_EQ(attempt([] { throw InvalidArgument("no"); }).exit_code, 1);
  EXPECT_EQ(attempt([] { throw std::runtime_error("oh"); }).message, "oh");
  EXPECT_EQ(attempt([] { throw 3; }).message, "an exception of unknown type");
  EXPECT_EQ(attempt([] { throw std::runtime_error(""); }).message, "an error without a message");
  EXPECT_EQ(attempt([] { TORCH_CHECK(false, "from torch"); }).message, "from torch");
}

TEST(Verdicts, TheLowestRankOfEachMessageSpeaks) {
  const Verdicts verdicts{Verdict{0, 0}, Verdict{1, 5}, std::nullopt, Verdict{1, 5}, Verdict{1, 6}};

  EXPECT_TRUE(speaks(verdicts, 1, Outcome{}));
  EXPECT_FALSE(speaks(verdicts, 3, Outcome{}));
  EXPECT_TRUE(speaks(verdicts, 4, Outcome{}));
  EXPECT_TRUE(differ(verdicts));
  EXPECT_TRUE(any_failed(verdicts));
  EXPECT_FALSE(all_known(verdicts));
}

}  // namespace
}  // namespace renga::detail
