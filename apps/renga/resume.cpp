// SPDX-License-Identifier: Apache-2.0
#include "resume.hpp"

#include <array>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"
#include "renga/mesh/device_mesh.hpp"

#include "rank_zero.hpp"

namespace renga::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// An option that a run cannot change, and its key in config.json.
struct Fixed {
  const char* option;
  const char* key;
};

constexpr std::array<Fixed, 13> kFixed{{{"MODEL", "model"},
                                        {"--data", "data"},
                                        {"--image-size", "image_size"},
                                        {"--channels", "channels"},
                                        {"--batch", "batch"},
                                        {"--batch-per-process", "batch_per_process"},
                                        {"--seed", "seed"},
                                        {"--dtype", "dtype"},
                                        {"--ch", "ch"},
                                        {"--z", "z"},
                                        {"--loss", "loss"},
                                        {"--real-and-made", "real_and_made"},
                                        {"--lr", "learning_rate"}}};

[[noreturn]] void refuse(const std::string& option, const std::string& expected, const std::string& got) {
  throw UsageError(text("--resume: ", option, ": the run has ", expected, ", got ", got,
                        "; leave the option out, or start another run"));
}

void check_fixed(const TrainOptions& given, const Json& config) {
  const Json wanted = Json::parse(train::json_line(config_of(given)));
  for (const auto& [option, key] : kFixed) {
    if (!given.given.contains(option)) {
      continue;
    }
    // Whichever way a batch was asked for, its size over all processes is what the run has.
    const bool is_batch = std::string(key) == "batch" && !config.contains(key);
    const Json expected = config.value(is_batch ? "global_batch" : key, Json());
    if (wanted.at(key) != expected) {
      refuse(option, expected.is_null() ? "none" : expected.dump(), wanted.at(key).dump());
    }
  }
}

void check_folder(const TrainOptions& given) {
  const auto plain = [](const std::string& path) { return (fs::absolute(path) / "").lexically_normal(); };
  if (given.given.contains("--out") && plain(given.out) != plain(given.resume)) {
    refuse("--out", given.resume, given.out);
  }
}

// The run's mesh, if that is for as many ranks as there are now.
std::string usable_mesh(const std::string& mesh, int ranks) {
  if (mesh.empty()) {
    return mesh;
  }
  int product = 1;
  for (const auto& axis : parse_axes(mesh)) {
    product *= axis.second;
  }
  return product == ranks ? mesh : "";
}

}  // namespace

TrainOptions resumed_options(const Communicator& world, const TrainOptions& given) {
  const std::string path = given.resume + "/config.json";
  const std::string config_text = read_on_rank_zero(world, path, "; is this a run folder?");
  TrainOptions options = options_from_config(path, config_text);
  const Json config = Json::parse(config_text);
  if (!config.contains("global_batch")) {
    throw FileError(text("resume: ", path, ": expected the run's global_batch, got none"));
  }
  check_fixed(given, config);
  check_folder(given);
  options.batch = config.at("global_batch").get<std::int64_t>();
  options.batch_per_process.reset();
  const auto& is_given = given.given;
  options.mesh = is_given.contains("--mesh") ? given.mesh : usable_mesh(options.mesh, world.size());
  if (given.steps || given.epochs) {
    options.steps = given.steps;
    options.epochs = given.epochs;
  }
  options.sample_every = is_given.contains("--sample-every") ? given.sample_every : options.sample_every;
  options.save_every = is_given.contains("--save-every") ? given.save_every : options.save_every;
  options.resume = given.resume;
  options.threads = given.threads;
  options.workers = given.workers;
  options.json = given.json;
  options.given = given.given;
  return options;
}

}  // namespace renga::app
