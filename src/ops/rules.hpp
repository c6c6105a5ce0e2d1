// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "renga/tensor/rule.hpp"

// One function for each family of operators: the rules of that family, by operator name.
namespace renga {

using Rules = std::vector<RuleEntry>;

Rules as_strided_rules();
Rules batch_norm_rules();
Rules cat_rules();
Rules convolution_rules();
Rules copy_rules();
Rules extremum_rules();
Rules factory_rules();
Rules loss_rules();
Rules matmul_rules();
Rules nll_loss_rules();
Rules pointwise_rules();
Rules random_rules();
Rules reduce_rules();
Rules reshape_rules();
Rules sample_rules();
Rules slice_rules();
Rules view_rules();

}  // namespace renga
