// SPDX-License-Identifier: Apache-2.0
#include "renga/core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

using Hosts = std::vector<HostSlots>;

struct Named {
  const char* name = nullptr;
  std::string value;
};

std::optional<Named> first_of(const Variables& variables, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (auto value = variables(name); value && !value->empty()) {
      return Named{name, *std::move(value)};
    }
  }
  return std::nullopt;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

// Lines with something in them.
std::vector<std::string> lines_of(const Named& file) {
  std::ifstream in(file.value);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!words_of(line).empty()) {
      lines.push_back(line);
    }
  }
  if (lines.empty()) {
    throw FileError(text(file.name, ": ", file.value, ": expected a readable file of hosts, got none or an empty one"));
  }
  return lines;
}

std::int64_t count_of(const Named& from, const std::string& word) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || count < 1) {
    throw InvalidArgument(text(from.name, ": expected a number of processes, got \"", word, '"'));
  }
  return count;
}

// A host may be named once for each of its processes, not always in a row.
void add(Hosts& hosts, const std::string& host, std::int64_t slots) {
  const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const HostSlots& h) { return h.host == host; });
  if (known == hosts.end()) {
    hosts.push_back({host, slots});
  } else {
    known->slots += slots;
  }
}

Hosts slurm(const Variables& variables) {
  const auto list = first_of(variables, {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!list) {
    return {};
  }
  const std::vector<std::string> names = expand_hosts(list->value);
  std::vector<std::int64_t> counts(names.size(), 1);
  if (const auto given = first_of(variables, {"SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"})) {
    counts = expand_counts(given->value);
    if (counts.size() != names.size()) {
      throw InvalidArgument(text(given->name, ": expected counts for the ", names.size(), " hosts of ", list->name,
                                 ", got ", counts.size(), " in ", given->value));
    }
  }
  Hosts hosts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    add(hosts, names[i], counts[i]);
  }
  return hosts;
}

// One host a word; with counts, pairs of host and count.
Hosts from_words(const Named& from, const std::vector<std::string>& words, std::size_t step) {
  if (words.size() % step != 0) {
    throw InvalidArgument(text(from.name, ": expected pairs of host and processes, got \"", from.value, '"'));
  }
  Hosts hosts;
  for (std::size_t i = 0; i < words.size(); i += step) {
    add(hosts, words[i], step == 1 ? 1 : count_of(from, words[i + 1]));
  }
  return hosts;
}

// One line a process, which begins with its host.
Hosts from_lines(const Named& file) {
  Hosts hosts;
  for (const std::string& line : lines_of(file)) {
    add(hosts, words_of(line).front(), 1);
  }
  return hosts;
}

Hosts pbs(const Variables& variables) {
  const auto file = first_of(variables, {"PBS_NODEFILE"});
  return file ? from_lines(*file) : Hosts{};
}

Hosts lsf(const Variables& variables) {
  if (const auto file = first_of(variables, {"LSB_DJOB_HOSTFILE"})) {
    return from_lines(*file);
  }
  if (const auto pairs = first_of(variables, {"LSB_MCPU_HOSTS"})) {
    return from_words(*pairs, words_of(pairs->value), 2);
  }
  const auto names = first_of(variables, {"LSB_HOSTS"});
  return names ? from_words(*names, words_of(names->value), 1) : Hosts{};
}

Hosts sge(const Variables& variables) {
  const auto file = first_of(variables, {"PE_HOSTFILE"});
  Hosts hosts;
  for (const std::string& line : file ? lines_of(*file) : std::vector<std::string>{}) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) {
      throw InvalidArgument(text(file->name, ": ", file->value, ": expected \"host processes …\", got \"", line, '"'));
    }
    add(hosts, words[0], count_of(*file, words[1]));
  }
  return hosts;
}

}  // namespace

std::vector<HostSlots> scheduler_hosts(const Variables& variables, const std::string& scheduler) {
  constexpr std::array<std::pair<const char*, Hosts (*)(const Variables&)>, 4> known{
      {{"slurm", slurm}, {"pbs", pbs}, {"lsf", lsf}, {"sge", sge}}};
  Hosts found;
  std::string names;
  for (const auto& [name, read] : known) {
    if (!scheduler.empty() && scheduler != name) {
      continue;
    }
    if (Hosts hosts = read(variables); !hosts.empty()) {
      found = std::move(hosts);
      names += (names.empty() ? "" : " and ") + std::string(name);
    }
  }
  if (found.empty()) {
    throw InvalidArgument(text("scheduler: expected the variables of ",
                               scheduler.empty() ? "slurm, pbs, lsf or sge" : scheduler, ", got none of them"));
  }
  if (names.find(" and ") != std::string::npos) {
    throw InvalidArgument(
        text("scheduler: expected the variables of one, got those of ", names, "; name the one to use"));
  }
  return found;
}

}  // namespace renga
