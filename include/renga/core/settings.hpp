// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace renga {

/// What the RENGA_* environment variables say; read once when communication starts.
struct Settings {
  std::chrono::duration<double> timeout{300.0};  ///< RENGA_TIMEOUT: seconds any wait may take
  bool check = false;                            ///< RENGA_CHECK=1: compare every collective over ranks before it runs
  bool strict = false;                           ///< RENGA_STRICT=1: an operator without a rule is an error
  std::string log = "info";                      ///< RENGA_LOG: error, warning, info or debug

  /// @throws InvalidArgument naming the variable, what it may be and what it is
  static Settings from_environment();
};

}  // namespace renga
