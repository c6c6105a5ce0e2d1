// SPDX-License-Identifier: Apache-2.0
#include "renga/core/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace renga::log {
namespace {

// One logger for the process: standard error is one, too.
spdlog::logger& logger() {
  static spdlog::logger instance("renga", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return instance;
}

}  // namespace

void configure(const std::string& level, const std::string& prefix) {
  logger().set_level(level == "warning" ? spdlog::level::warn : spdlog::level::from_str(level));
  logger().set_pattern(prefix + "%l: %v");
}

void error(const std::string& message) { logger().error(message); }

void warning(const std::string& message) { logger().warn(message); }

void info(const std::string& message) { logger().info(message); }

void debug(const std::string& message) { logger().debug(message); }

}  // namespace renga::log
