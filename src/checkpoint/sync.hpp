// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace renga::detail {

/// Brings the folder in which `path` lies to the disk: without this a new name may be lost in a power cut
/// although the bytes are there. Returns 0 or the system's error number.
int sync_folder_of(const std::string& path);

}  // namespace renga::detail
