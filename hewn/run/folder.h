#pragma once

#include <filesystem>

#include "hewn/core/files.h"
#include "hewn/run/options.h"

namespace hewn::run {

/// The files of one training. docs/formats.md describes each.
struct Folder {
  std::filesystem::path path;

  std::filesystem::path config() const { return path / "config.json"; }
  /// What a budget of milliseconds counts by, as it was when the run began.
  std::filesystem::path costs() const { return path / "costs.json"; }
  std::filesystem::path metrics() const { return path / "metrics.jsonl"; }
  std::filesystem::path events() const { return path / "events"; }
  std::filesystem::path checkpoints() const { return path / "checkpoints"; }
  std::filesystem::path supports() const { return path / "supports"; }
  std::filesystem::path model() const { return path / "model.safetensors"; }
  std::filesystem::path inputs() const { return path / "inputs.safetensors"; }
  std::filesystem::path summary() const { return path / "summary.json"; }
  std::filesystem::path lock() const { return path / ".lock"; }
  /// The dense run beside it (--compare-dense).
  Folder dense() const { return {path / "dense"}; }

  bool started() const { return is_there(config()); }
  bool finished() const { return is_there(summary()); }
};

/// A new folder under runs/, named after the options; made at once, so that of several processes each has its
/// own. It is removed again where nothing was written into it.
class FreshFolder {
 public:
  explicit FreshFolder(const Options& options);
  ~FreshFolder();
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

}  // namespace hewn::run
