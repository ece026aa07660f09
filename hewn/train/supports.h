#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/prune/pruner.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"

namespace hewn::train {

/// The blocks of one layer at one moment.
struct LayerSupport {
  LayerBlocks blocks;
  std::vector<float> importance;  // what blocks were ranked by; empty where the layer has too many of them
};

/// The kept blocks of all pruned layers when a SPARSE phase began with that step, or at the end of the run.
struct SupportRecord {
  int64_t step = 0;
  bool end = false;
  std::string score;  // whose importance it is
  std::map<std::string, LayerSupport> layers;
};

/// Writes such records into a run's folder: how the choice of blocks changes from cycle to cycle. Equal runs
/// write equal files.
class SupportLog final : public run::Observer {
 public:
  /// Keeps the records of the first `resumed_at` steps. The pruner must outlive it.
  SupportLog(const run::Folder& run, const prune::Pruner& pruner, std::string score, int64_t resumed_at);

  void on_phase(int64_t step, prune::Phase phase) override;
  /// To be called before the gates are folded in.
  void end(int64_t step) const { write("end.safetensors", step); }

 private:
  void write(const std::string& name, int64_t step) const;

  std::filesystem::path folder_;
  const prune::Pruner& pruner_;
  std::string score_;
};

/// The records' files in the order of their steps, the end last.
std::vector<std::filesystem::path> support_files(const run::Folder& run);
/// Throws FormatError where the file is not such a record.
SupportRecord read_supports(const std::filesystem::path& path);

}  // namespace hewn::train
