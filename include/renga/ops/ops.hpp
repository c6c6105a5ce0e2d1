// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace renga {

/// Registers renga's rules with LibTorch's dispatcher, once for the process. Including this header (or
/// `renga/renga.hpp`) does it when the program starts, as `TORCH_LIBRARY` does for operators.
bool install_rules();

namespace detail {
inline const bool kRulesInstalled = install_rules();
}  // namespace detail

}  // namespace renga
