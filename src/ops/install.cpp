// SPDX-License-Identifier: Apache-2.0
#include "renga/ops/ops.hpp"
#include "renga/tensor/rule.hpp"

#include "rules.hpp"

namespace renga {

bool install_rules() {
  static const bool installed = [] {
    Rules all;
    for (const auto& family :
         {as_strided_rules(), batch_norm_rules(), cat_rules(), convolution_rules(), copy_rules(), extremum_rules(),
          factory_rules(), loss_rules(), matmul_rules(), nll_loss_rules(), pointwise_rules(), random_rules(),
          reduce_rules(), reshape_rules(), sample_rules(), slice_rules(), view_rules()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    register_operators(all);
    return true;
  }();
  return installed;
}

}  // namespace renga
