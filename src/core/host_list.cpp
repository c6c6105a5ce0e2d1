// SPDX-License-Identifier: Apache-2.0
#include "renga/core/host_list.hpp"

#include <algorithm>
#include <charconv>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

constexpr std::int64_t kMostHosts = 1 << 20;  // more is a slip of the pen, and would fill memory

[[noreturn]] void refuse(const std::string& list, const std::string& expected, const std::string& part) {
  throw InvalidArgument(text("host list \"", list, "\": expected ", expected, ", got \"", part, '"'));
}

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t number(const std::string& list, const std::string& word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (!is_number(word) || error != std::errc() || end != word.data() + word.size()) {
    refuse(list, "a number", word);
  }
  return value;
}

// Splits at separators that are not inside brackets.
std::vector<std::string> split_outside(const std::string& list, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += static_cast<int>(c == '[') - static_cast<int>(c == ']');
    if (depth < 0 || depth > 1) {
      refuse(list, "brackets in pairs", parts.back() + c);
    }
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) {
    refuse(list, "brackets in pairs", parts.back());
  }
  return parts;
}

// "01-03,07" is 01, 02, 03, 07.
std::vector<std::string> expand_range(const std::string& list, const std::string& inside) {
  std::vector<std::string> out;
  for (const std::string& part : split_text(inside, ',')) {
    const auto dash = part.find('-');
    const std::string first = part.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : part.substr(dash + 1);
    const std::int64_t begin = number(list, first);
    const std::int64_t end = number(list, last);
    if (end < begin || end - begin >= kMostHosts) {
      refuse(list, "a range that goes up, of fewer than a million hosts", part);
    }
    for (std::int64_t i = begin; i <= end; ++i) {
      const std::string digits = std::to_string(i);
      out.push_back(std::string(first.size() - std::min(first.size(), digits.size()), '0') + digits);
    }
  }
  if (out.empty()) {
    refuse(list, "a number in brackets", "[]");
  }
  return out;
}

// Every combination of what the brackets of one name hold, the last one fastest.
std::vector<std::string> expand_name(const std::string& list, const std::string& name) {
  if (name.empty() || name.find_first_of(" \t\n") != std::string::npos) {
    refuse(list, "a host name", name);
  }
  std::vector<std::string> out{""};
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t open = std::min(name.find('[', at), name.size());
    const std::size_t close = std::min(name.find(']', open), name.size());
    const std::string before = name.substr(at, open - at);
    const auto endings = open == name.size() ? std::vector<std::string>{""}
                                             : expand_range(list, name.substr(open + 1, close - open - 1));
    std::vector<std::string> longer;
    if (out.size() * endings.size() > static_cast<std::size_t>(kMostHosts)) {
      refuse(list, "fewer than a million hosts", name);
    }
    for (const std::string& begin : out) {
      for (const std::string& ending : endings) {
        longer.push_back(begin + before + ending);
      }
    }
    out = std::move(longer);
    at = close + 1;
  }
  return out;
}

}  // namespace

std::vector<std::string> expand_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  for (const std::string& name : split_outside(list, ',')) {
    const auto expanded = expand_name(list, name);
    hosts.insert(hosts.end(), expanded.begin(), expanded.end());
  }
  return hosts;
}

std::vector<HostSlots> parse_hosts(const std::string& list) {
  std::vector<HostSlots> out;
  for (const std::string& entry : split_outside(list, ',')) {
    const std::vector<std::string> halves = split_outside(entry, ':');
    if (halves.size() > 2) {
      refuse(list, "HOST or HOST:PROCESSES, an address in brackets", entry);
    }
    const std::int64_t slots = halves.size() == 2 ? number(list, halves[1]) : 1;
    if (slots < 1) {
      refuse(list, "1 or more processes", entry);
    }
    const std::string& name = halves[0];
    const bool address = name.size() > 2 && name.front() == '[' && name.find(':') != std::string::npos;
    for (const std::string& host :
         address ? std::vector<std::string>{name.substr(1, name.size() - 2)} : expand_name(list, name)) {
      out.push_back({host, slots});
    }
  }
  return out;
}

std::vector<std::int64_t> expand_counts(const std::string& counts) {
  std::vector<std::int64_t> out;
  for (const std::string& part : split_text(counts, ',')) {
    const auto open = part.find("(x");
    const bool repeated = open != std::string::npos;
    if (repeated && part.back() != ')') {
      refuse(counts, "a count such as 2(x3)", part);
    }
    const std::int64_t value = number(counts, part.substr(0, open));
    const std::int64_t times = repeated ? number(counts, part.substr(open + 2, part.size() - open - 3)) : 1;
    if (times > kMostHosts) {
      refuse(counts, "fewer than a million hosts", part);
    }
    out.insert(out.end(), static_cast<std::size_t>(times), value);
  }
  return out;
}

}  // namespace renga
