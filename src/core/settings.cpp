// SPDX-License-Identifier: Apache-2.0
#include "renga/core/settings.hpp"

#include <cmath>
#include <cstdlib>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

namespace renga {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool flag(const char* name) {
  const std::string value = variable(name);
  if (value.empty() || value == "0") {
    return false;
  }
  if (value == "1") {
    return true;
  }
  throw InvalidArgument(text(name, ": expected 0 or 1, got \"", value, "\""));
}

double seconds(const char* name, double otherwise) {
  const std::string value = variable(name);
  if (value.empty()) {
    return otherwise;
  }
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (end == value.c_str() || *end != '\0' || !std::isfinite(number) || number <= 0) {
    throw InvalidArgument(text(name, ": expected seconds above 0, got \"", value, "\""));
  }
  return number;
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  settings.timeout = std::chrono::duration<double>(seconds("RENGA_TIMEOUT", settings.timeout.count()));
  settings.check = flag("RENGA_CHECK");
  settings.strict = flag("RENGA_STRICT");
  const std::string log = variable("RENGA_LOG");
  if (!log.empty()) {
    if (log != "error" && log != "warning" && log != "info" && log != "debug") {
      throw InvalidArgument(text("RENGA_LOG: expected error, warning, info or debug, got \"", log, "\""));
    }
    settings.log = log;
  }
  return settings;
}

}  // namespace renga
