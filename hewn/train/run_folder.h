#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/core/json.h"
#include "hewn/nn/model.h"
#include "hewn/train/options.h"

namespace hewn::train {

/// The files of one training. docs/formats.md describes each.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path events() const { return path / "events"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path supports() const { return path / "supports"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path summary() const { return path / "summary.json"; }
  std::filesystem::path lock() const { return path / ".lock"; }
  /// The dense run beside it (--compare-dense).
  RunFolder dense() const { return {path / "dense"}; }

  bool started() const { return std::filesystem::exists(config()); }
  bool finished() const { return std::filesystem::exists(summary()); }
};

/// A folder that does not exist yet, under runs/, named after the options.
RunFolder fresh_run_folder(const TrainOptions& options);

void write_json(const std::filesystem::path& path, const Json& json);
/// Throws FormatError where the file is not JSON.
Json read_json(const std::filesystem::path& path);

/// The options of a started run.
TrainOptions read_config(const RunFolder& run);

Json to_json(const nn::Signature& signature);
/// What the model of a started run takes and gives.
nn::Signature read_signature(const RunFolder& run);

/// The options of a started run with those `given` anew put in. Throws Error for one that would train
/// something else than the run was started with.
TrainOptions resumed_options(const RunFolder& run, const std::map<std::string, std::string>& given);

}  // namespace hewn::train
