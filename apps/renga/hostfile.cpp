// SPDX-License-Identifier: Apache-2.0
#include "hostfile.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "renga/checkpoint/atomic_file.hpp"
#include "renga/core/error.hpp"
#include "renga/core/host_list.hpp"
#include "renga/core/scheduler.hpp"
#include "renga/core/text.hpp"

#include "rank_zero.hpp"

namespace renga::app {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// For CLI11: what is wrong with a list of hosts, or nothing.
std::string wrong_in(const std::string& hosts) {
  try {
    parse_hosts(hosts);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

std::string line_of(const HostSlots& host, const std::string& format) {
  return format == "openmpi" ? text(host.host, " slots=", host.slots, '\n') : text(host.host, ':', host.slots, '\n');
}

void write(const HostfileOptions& options) {
  std::string content;
  for (HostSlots& host : options.hosts.empty() ? scheduler_hosts(variable, options.from) : parse_hosts(options.hosts)) {
    host.slots = options.slots.value_or(host.slots);
    content += line_of(host, options.format);
  }
  if (options.out.empty()) {
    std::fputs(content.c_str(), stdout);
    return;
  }
  AtomicFile file(options.out);
  file.write(content);
  file.commit();
}

}  // namespace

void add_hostfile_options(CLI::App& command, HostfileOptions& o) {
  command.footer(
      "Reads what SLURM, PBS, LSF or SGE says of this job's hosts:\n"
      "  renga hostfile --out hosts && mpiexec --hostfile hosts -n 8 renga train dcgan\n"
      "By hand: renga hostfile --hosts 'node[01-04]:2,login'");
  auto* const from = command.add_option("--from", o.from, "the scheduler, where the variables of several are set")
                         ->check(CLI::IsMember({"slurm", "pbs", "lsf", "sge"}));
  command.add_option("--hosts", o.hosts, "the hosts themselves, HOST or HOST:PROCESSES with commas between")
      ->check(wrong_in)
      ->excludes(from);
  command.add_option("--slots", o.slots, "processes of every host (what the scheduler says)")
      ->check(CLI::PositiveNumber);
  command.add_option("--format", o.format, "whose mpiexec is to read it")
      ->check(CLI::IsMember({"openmpi", "mpich"}))
      ->capture_default_str();
  command.add_option("--out", o.out, "file to write (standard output)");
}

void write_hostfile(Environment& environment, const HostfileOptions& options) {
  on_rank_zero(environment.world(), [&options] { write(options); });
}

}  // namespace renga::app
