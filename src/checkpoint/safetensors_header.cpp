// SPDX-License-Identifier: Apache-2.0
#include "safetensors_header.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga::detail {
namespace {

using Json = nlohmann::json;

constexpr const char* kMetadata = "__metadata__";

Json parse(const std::string& json_text) {
  if (json_text.empty() || json_text.front() != '{') {
    throw FileError("the header does not begin with '{'; is this a safetensors file?");
  }
  // The parser silently keeps the last of several equal keys, which would hide a tensor.
  std::vector<std::set<std::string>> seen;
  const auto check_keys = [&seen](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) {
      seen.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      seen.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!seen.back().insert(key).second) {
        throw FileError(text("the header names \"", key, "\" twice"));
      }
    }
    return true;
  };
  try {
    return Json::parse(json_text, check_keys);
  } catch (const Json::exception& error) {
    throw FileError(text("the header is not valid JSON: ", error.what()));
  }
}

Metadata read_metadata(const Json& value) {
  Metadata metadata;
  if (!value.is_object()) {
    throw FileError("\"__metadata__\" is not an object");
  }
  for (const auto& [key, item] : value.items()) {
    if (!item.is_string()) {
      throw FileError(text("\"__metadata__\" has \"", key, "\": expected a string, got ", item));
    }
    metadata[key] = item.get<std::string>();
  }
  return metadata;
}

std::vector<std::uint64_t> read_numbers(const std::string& name, const Json& entry, const char* key) {
  std::vector<std::uint64_t> numbers;
  if (!entry.contains(key) || !entry[key].is_array()) {
    throw FileError(text("tensor \"", name, "\" has no list \"", key, "\""));
  }
  for (const Json& item : entry[key]) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > INT64_MAX) {
      throw FileError(text("tensor \"", name, "\": \"", key, "\" holds ", item, ", expected sizes or offsets"));
    }
    numbers.push_back(item.get<std::uint64_t>());
  }
  return numbers;
}

Entry read_entry(const std::string& name, const Json& value) {
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string()) {
    throw FileError(text("tensor \"", name, "\" has no dtype"));
  }
  const auto dtype_name = value["dtype"].get<std::string>();
  const auto dtype = dtype_of(dtype_name);
  if (!dtype) {
    throw FileError(text("tensor \"", name, "\" has the unknown dtype ", dtype_name));
  }
  const auto sizes = read_numbers(name, value, "shape");
  const auto offsets = read_numbers(name, value, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    throw FileError(
        text("tensor \"", name, "\": \"data_offsets\" is ", value["data_offsets"], ", expected [begin, end]"));
  }
  Entry entry{{name, *dtype, {sizes.begin(), sizes.end()}}, offsets[0], offsets[1]};
  const auto bytes = byte_count(entry.info);
  if (!bytes || *bytes != entry.end - entry.begin) {
    throw FileError(text("tensor \"", name, "\": ", dtype_name, " ", sizes_text(entry.info.sizes), " does not fit its ",
                         entry.end - entry.begin, " bytes"));
  }
  return entry;
}

void check_places(const std::vector<Entry>& entries, std::uint64_t data_bytes) {
  std::uint64_t next = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != next) {
      throw FileError(text("tensor \"", entry.info.name, "\" begins at byte ", entry.begin,
                           entry.begin < next ? ", inside the one before it" : ", after a hole", "; expected ", next));
    }
    next = entry.end;
  }
  if (next != data_bytes) {
    throw FileError(text("the header describes ", next, " bytes of data, the file has ", data_bytes,
                         next > data_bytes ? "; it is truncated" : ""));
  }
}

}  // namespace

Header lay_out(std::vector<TensorInfo> tensors, const Metadata& metadata) {
  Header header{{}, metadata};
  std::set<std::string> names{kMetadata};
  std::uint64_t next = 0;
  for (TensorInfo& info : tensors) {
    safetensors_dtype(info.dtype);  // throws for those the format lacks
    if (!names.insert(info.name).second) {
      throw InvalidArgument(text("safetensors: the name \"", info.name, "\" is used twice"));
    }
    const auto bytes = byte_count(info);
    if (!bytes || next + *bytes > INT64_MAX) {
      throw InvalidArgument(text("safetensors: \"", info.name, "\" is too large"));
    }
    header.entries.push_back({std::move(info), next, next + *bytes});
    next += *bytes;
  }
  return header;
}

std::string write_header(const Header& header) {
  auto json = nlohmann::ordered_json::object();  // keeps the order of the data
  if (!header.metadata.empty()) {
    json[kMetadata] = header.metadata;
  }
  for (const Entry& entry : header.entries) {
    json[entry.info.name] = {{"dtype", safetensors_dtype(entry.info.dtype)},
                             {"shape", entry.info.sizes},
                             {"data_offsets", {entry.begin, entry.end}}};
  }
  try {
    std::string out = json.dump();
    out.resize((out.size() + 7) / 8 * 8, ' ');
    return out;
  } catch (const Json::exception& error) {
    throw InvalidArgument(text("safetensors: a name is not valid UTF-8: ", error.what()));
  }
}

Header read_header(const std::string& json_text, std::uint64_t data_bytes) {
  Header header;
  const Json json = parse(json_text);
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      header.metadata = read_metadata(value);
    } else {
      header.entries.push_back(read_entry(name, value));
    }
  }
  // Empty tensors share their offset with the tensor behind them: compare the ends, too.
  std::ranges::stable_sort(header.entries, {}, [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  check_places(header.entries, data_bytes);
  return header;
}

}  // namespace renga::detail
