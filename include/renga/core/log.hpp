// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace renga::log {

/// Sets what is printed (error, warning, info, debug) and the prefix of each line, "" or "[rank 2/8] ".
void configure(const std::string& level, const std::string& prefix);

/// Lines on standard error. Cheap when the level is off; the caller builds the text.
void error(const std::string& message);
void warning(const std::string& message);
void info(const std::string& message);
void debug(const std::string& message);

}  // namespace renga::log
