// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "renga/core/error.hpp"

/// The message of what `step` throws, "" when it throws nothing. Other exceptions pass.
template <typename Exception = renga::FileError, typename Step>
std::string error_of(const Step& step) {
  try {
    step();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}
