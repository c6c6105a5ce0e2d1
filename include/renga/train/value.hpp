// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace renga::train {

/// What a line of a log or an option of a run can be: a JSON value.
///
///     Fields{{"step", 10}, {"losses", Fields{{"d", 0.69}, {"g", 0.71}}}, {"memory", List{1, 2}}}
///
/// Conversions are implicit so that it can be written like this.
class Value {
 public:
  using List = std::vector<Value>;
  using Fields = std::vector<std::pair<std::string, Value>>;
  using Variant = std::variant<std::int64_t, double, bool, std::string, List, Fields>;

  template <std::same_as<bool> Bool>  // not from pointers
  Value(Bool value) : variant_(value) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Value(Integer value) : variant_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point Real>
  Value(Real value) : variant_(static_cast<double>(value)) {}
  Value(const char* value) : variant_(std::string(value)) {}
  Value(std::string value) : variant_(std::move(value)) {}
  Value(List value) : variant_(std::move(value)) {}
  Value(Fields value) : variant_(std::move(value)) {}

  const Variant& variant() const { return variant_; }

 private:
  Variant variant_;
};

/// Names and values in the order they are to be written.
using Fields = Value::Fields;
using List = Value::List;

/// On one line, without spaces: {"step":10,"loss":0.5}. Numbers that JSON lacks (infinite, not a
/// number) become null; in text that is not UTF-8 the bad bytes are replaced.
std::string json_line(const Fields& fields);

/// Over several lines, indented by two spaces, with a line feed at the end.
std::string json_text(const Fields& fields);

}  // namespace renga::train
