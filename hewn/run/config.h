#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "hewn/core/json.h"
#include "hewn/nn/signature.h"
#include "hewn/run/folder.h"

namespace hewn::run {

/// What a run was started with: config.json, which makes a folder a run.
struct Config {
  Options options;          // with every choice made
  int64_t steps = 0;        // 0: written before steps were
  nn::Signature signature;  // what the model takes and gives
  std::string libtorch;     // version that it was started with

  /// The options as they are written, by the keys of this version.
  Json options_json() const;
};

void write_config(const Folder& run, const Config& config);
/// With the run's own costs. Throws Error where the folder is no run, FormatError where a file is damaged.
Config read_config(const Folder& run);
/// The same of JSON that was read already.
Config config_in(const Folder& run, const Json& json);

/// The options of a started run with those `given` anew put in. Throws Error for one that would train
/// something else than the run was started with.
Options resumed_options(const Folder& run, const std::map<std::string, std::string>& given);

}  // namespace hewn::run
