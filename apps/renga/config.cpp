// SPDX-License-Identifier: Apache-2.0
// Options of a run as its config.json holds them.
#include <map>

#include <nlohmann/json.hpp>

#include "renga/core/error.hpp"
#include "renga/core/text.hpp"

#include "option_names.hpp"
#include "options.hpp"

namespace renga::app {
namespace {

using Json = nlohmann::json;

template <typename Value>
std::string name_of(const std::map<std::string, Value>& names, Value value) {
  for (const auto& [name, candidate] : names) {
    if (candidate == value) {
      return name;
    }
  }
  return "";
}

// Absent keys leave the default: an older run does not have the newer ones.
template <typename Value>
void read(const Json& json, const char* key, Value& value) {
  if (const auto found = json.find(key); found != json.end()) {
    value = found->get<Value>();
  }
}

template <typename Value>
void read(const Json& json, const char* key, std::optional<Value>& value) {
  if (const auto found = json.find(key); found != json.end()) {
    value = found->get<Value>();
  }
}

template <typename Value>
void read_name(const Json& json, const char* key, const std::map<std::string, Value>& names, Value& value) {
  std::string name = name_of(names, value);
  read(json, key, name);
  const auto found = names.find(name);
  if (found == names.end()) {
    throw FileError(text(key, ": unknown: ", name));
  }
  value = found->second;
}

TrainOptions from_json(const Json& json) {
  TrainOptions o;
  o.model = json.at("model").get<std::string>();
  read(json, "data", o.data);
  read(json, "image_size", o.image_size);
  read(json, "channels", o.channels);
  read(json, "mesh", o.mesh);
  read(json, "batch", o.batch);
  read(json, "batch_per_process", o.batch_per_process);
  read(json, "steps", o.steps);
  read(json, "epochs", o.epochs);
  read(json, "seed", o.seed);
  read(json, "dtype", o.dtype);
  read(json, "ch", o.ch);
  read_name(json, "z", noise_names(), o.z);
  read_name(json, "loss", loss_names(), o.loss);
  read_name(json, "real_and_made", real_and_made_names(), o.real_and_made);
  read(json, "learning_rate", o.learning_rate);
  read(json, "sample_every", o.sample_every);
  read(json, "save_every", o.save_every);
  return o;
}

}  // namespace

train::Fields config_of(const TrainOptions& o) {
  train::Fields fields{{"model", o.model},
                       {"data", o.data},
                       {"mesh", o.mesh},
                       {"seed", o.seed},
                       {"dtype", o.dtype},
                       {"ch", o.ch},
                       {"z", name_of(noise_names(), o.z)},
                       {"loss", name_of(loss_names(), o.loss)},
                       {"real_and_made", name_of(real_and_made_names(), o.real_and_made)},
                       {"learning_rate", o.learning_rate},
                       {"sample_every", o.sample_every},
                       {"save_every", o.save_every}};
  const auto add = [&fields](const char* name, const std::optional<std::int64_t>& value) {
    if (value) {
      fields.emplace_back(name, *value);
    }
  };
  add("image_size", o.image_size);
  add("channels", o.channels);
  add("batch", o.batch);
  add("batch_per_process", o.batch_per_process);
  add("steps", o.steps);
  add("epochs", o.epochs);
  return fields;
}

TrainOptions options_from_config(const std::string& path, const std::string& json_text) {
  try {
    return from_json(Json::parse(json_text));
  } catch (const Json::exception& error) {
    throw FileError(text(path, ": not a run's configuration: ", error.what()));
  } catch (const FileError& error) {
    throw FileError(text(path, ": ", error.what()));
  }
}

}  // namespace renga::app
