// SPDX-License-Identifier: Apache-2.0
#include "renga/core/scheduler.hpp"

#include <cstdio>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

#include "renga/core/error.hpp"

namespace renga {
namespace {

using Hosts = std::vector<HostSlots>;
using Values = std::map<std::string, std::string>;

Hosts read(const Values& values, const std::string& scheduler = "") {
  return scheduler_hosts(
      [&](const char* name) {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
      },
      scheduler);
}

class HostFile {
 public:
  explicit HostFile(const std::string& content) {
    const int descriptor = mkstemp(path_.data());
    close(descriptor);
    std::ofstream(path_) << content;
  }
  ~HostFile() { std::remove(path_.c_str()); }
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "hosts-XXXXXX";
};

TEST(SchedulerHosts, Slurm) {
  EXPECT_EQ(read({{"SLURM_JOB_NODELIST", "n[1-3],login"}, {"SLURM_TASKS_PER_NODE", "2(x3),1"}}),
            (Hosts{{"n1", 2}, {"n2", 2}, {"n3", 2}, {"login", 1}}));
  EXPECT_EQ(read({{"SLURM_NODELIST", "n1"}, {"SLURM_JOB_CPUS_PER_NODE", "16"}}), (Hosts{{"n1", 16}}));
  EXPECT_EQ(read({{"SLURM_JOB_NODELIST", "n[1-2]"}}), (Hosts{{"n1", 1}, {"n2", 1}}));
  EXPECT_THROW(read({{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "2"}}), InvalidArgument);
}

TEST(SchedulerHosts, Pbs) {
  const HostFile file("b\na\nb\n\nb\n");
  EXPECT_EQ(read({{"PBS_NODEFILE", file.path()}}), (Hosts{{"b", 3}, {"a", 1}}));
  EXPECT_THROW(read({{"PBS_NODEFILE", "/nowhere/at/all"}}), FileError);
  EXPECT_THROW(read({{"PBS_NODEFILE", HostFile("").path()}}), FileError);
}

TEST(SchedulerHosts, Lsf) {
  const HostFile file("a\na\nb\n");
  EXPECT_EQ(read({{"LSB_DJOB_HOSTFILE", file.path()}, {"LSB_HOSTS", "x"}}), (Hosts{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(read({{"LSB_MCPU_HOSTS", "a 4 b 2 "}}), (Hosts{{"a", 4}, {"b", 2}}));
  EXPECT_EQ(read({{"LSB_HOSTS", "a a b"}}), (Hosts{{"a", 2}, {"b", 1}}));
  EXPECT_THROW(read({{"LSB_MCPU_HOSTS", "a 4 b"}}), InvalidArgument);
  EXPECT_THROW(read({{"LSB_MCPU_HOSTS", "a four"}}), InvalidArgument);
}

TEST(SchedulerHosts, Sge) {
  const HostFile file("a.example 4 all.q@a UNDEFINED\nb.example 2 all.q@b <NULL>\n");
  EXPECT_EQ(read({{"PE_HOSTFILE", file.path()}}), (Hosts{{"a.example", 4}, {"b.example", 2}}));
  EXPECT_THROW(read({{"PE_HOSTFILE", HostFile("a\n").path()}}), InvalidArgument);
}

TEST(SchedulerHosts, NoneOrTwo) {
  const Values both{{"SLURM_JOB_NODELIST", "a"}, {"LSB_HOSTS", "b"}};
  EXPECT_THROW(read({}), InvalidArgument);
  EXPECT_THROW(read({{"LSB_HOSTS", ""}}), InvalidArgument);
  EXPECT_THROW(read(both), InvalidArgument);
  EXPECT_EQ(read(both, "lsf"), (Hosts{{"b", 1}}));
  EXPECT_THROW(read(both, "pbs"), InvalidArgument);
}

}  // namespace
}  // namespace renga
