// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "group.hpp"

namespace renga::detail {

/// Every rank's text, in rank order; part of the call that was begun.
std::vector<std::string> gather_texts(Group& group, const Call& call, const std::string& value);

}  // namespace renga::detail
