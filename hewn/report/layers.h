#pragma once

#include <map>
#include <string>
#include <vector>

#include "hewn/nn/model.h"
#include "hewn/run/folder.h"
#include "hewn/train/model_report.h"
#include "hewn/train/supports.h"

namespace hewn::report {

/// What a run's layers are and cost: as its model.safetensors holds them, or as planned while there is none.
struct LayerFacts {
  train::ModelReport report;
  std::map<std::string, int64_t> products;               // layer -> multiply-adds of one sample, dense
  std::map<std::string, std::vector<uint8_t>> kept;      // pruned layers; empty while nothing was chosen
  std::map<std::string, std::vector<float>> importance;  // likewise, where it was recorded
  bool measured = false;                                 // from model.safetensors
};

/// `newest`, where there is one, is the last choice of blocks that the run wrote down. A model that cannot be
/// read adds a sentence to `problems`.
LayerFacts layer_facts(const run::Folder& run, const train::SupportRecord* newest,
                       std::vector<std::string>& problems);

/// One row per prunable layer, for the page's table. `config` is the run's config.json.
Json layer_rows(const LayerFacts& facts, const Json& config);
/// A picture per pruned layer whose blocks were chosen; all together have at most `most_cells` cells.
Json layer_pictures(const LayerFacts& facts, int64_t most_cells);

}  // namespace hewn::report
