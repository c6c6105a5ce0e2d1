// SPDX-License-Identifier: Apache-2.0
#include "renga/train/value.hpp"

#include <nlohmann/json.hpp>

namespace renga::train {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Value& value);

Json to_json(const Fields& fields) {
  Json json = Json::object();
  for (const auto& [name, value] : fields) {
    json[name] = to_json(value);
  }
  return json;
}

struct ToJson {
  Json operator()(const List& list) const {
    Json json = Json::array();
    for (const Value& item : list) {
      json.push_back(to_json(item));
    }
    return json;
  }
  Json operator()(const Fields& fields) const { return to_json(fields); }
  template <typename Simple>
  Json operator()(const Simple& simple) const {
    return simple;
  }
};

Json to_json(const Value& value) { return std::visit(ToJson{}, value.variant()); }

std::string dump(const Fields& fields, int indent) {
  return to_json(fields).dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_line(const Fields& fields) { return dump(fields, -1); }

std::string json_text(const Fields& fields) { return dump(fields, 2) + "\n"; }

}  // namespace renga::train
