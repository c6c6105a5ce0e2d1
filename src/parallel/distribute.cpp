// SPDX-License-Identifier: Apache-2.0
#include "renga/parallel/distribute.hpp"

#include <functional>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/tensor/random.hpp"
#include "renga/tensor/state.hpp"

namespace renga {
namespace {

// One line for each tensor, and one for the generator.
std::vector<std::string> describe_module(const torch::nn::Module& module) {
  std::vector<std::string> lines;
  const auto add = [&lines](const char* kind, const auto& named) {
    for (const auto& item : named) {
      const at::Tensor& tensor = item.value();
      lines.push_back(tensor.defined() ? text(kind, " ", item.key(), " ", c10::toString(tensor.scalar_type()), " ",
                                              sizes_text(tensor.sizes()))
                                       : text(kind, " ", item.key(), " undefined"));
    }
  };
  add("parameter", module.named_parameters());
  add("buffer", module.named_buffers());
  lines.push_back(text("state of the random generator ", generator_digest()));
  return lines;
}

std::string line_or_nothing(const std::vector<std::string>& lines, std::size_t i) {
  return i < lines.size() ? lines[i] : "nothing";
}

}  // namespace

void order_weights(torch::nn::Module& module) {
  const at::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) {
    if (parameter.dim() == 4 && parameter.is_floating_point() && is_dtensor(parameter)) {
      parameter.set_data(parameter.detach().contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

void require_same_module(const DeviceMesh& mesh, const torch::nn::Module& module) {
  const Communicator& world = mesh.world();
  const auto mine = describe_module(module);
  std::string joined;
  for (const auto& line : mine) {
    joined += line + "\n";
  }
  const auto hashes = world.all_gather_text(text(std::hash<std::string>{}(joined)));
  bool same = true;
  for (const auto& hash : hashes) {
    same = same && hash == hashes.front();
  }
  if (same) {
    return;
  }
  const auto first = split_text(world.broadcast_text(joined, 0), '\n');
  std::string difference;
  for (std::size_t i = 0; i < std::max(first.size(), mine.size()) && difference.empty(); ++i) {
    if (line_or_nothing(first, i) != line_or_nothing(mine, i)) {
      difference =
          text("rank 0 has ", line_or_nothing(first, i), ", rank ", world.rank(), " has ", line_or_nothing(mine, i));
    }
  }
  for (const auto& reported : world.all_gather_text(difference)) {
    if (!reported.empty()) {
      throw Mismatch(text("distribute: the module differs between ranks: ", reported));
    }
  }
}

}  // namespace renga
