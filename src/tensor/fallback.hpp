// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "renga/tensor/rule.hpp"

namespace renga {

/// Computes an operator that no rule covers on whole tensors, alike on every rank: exact, at the cost of
/// gathering what is split. Views of replicated tensors alias; views of split ones are copies kept
/// equal to their base.
void compute_replicated(Call& call);

/// Whether a tensor argument is split or Partial, so that `compute_replicated` has to communicate.
bool needs_gather(const Call& call);

}  // namespace renga
