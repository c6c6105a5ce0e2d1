// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "options.hpp"

namespace renga::app {

/// What the values of an option are called, on the command line and in config.json.
inline std::map<std::string, Noise> noise_names() { return {{"normal", Noise::Normal}, {"uniform", Noise::Uniform}}; }

inline std::map<std::string, RealAndMade> real_and_made_names() {
  return {{"together", RealAndMade::Together}, {"apart", RealAndMade::Apart}};
}

inline std::map<std::string, models::GanLoss> loss_names() {
  return {{"softplus", models::GanLoss::Softplus}, {"hinge", models::GanLoss::Hinge}};
}

}  // namespace renga::app
