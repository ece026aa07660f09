#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/nn/model.h"
#include "hewn/prune/plan.h"
#include "hewn/train/run_folder.h"

namespace hewn::train {

/// One prunable weight: planned or measured.
struct LayerReport {
  std::string name;
  std::vector<int64_t> shape;
  Grid grid;
  int64_t kept = 0;  // blocks
  bool pruned = false;
  std::string note;
  double realised_sparsity = 0;  // zeros over elements
  int64_t bytes_dense = 0;
  int64_t bytes_sparse = 0;  // as dense where that is smaller
};

/// The whole model: what `hewn plan` and `hewn inspect` show.
struct ModelReport {
  BlockShape block;
  double requested_sparsity = 0;
  std::vector<LayerReport> layers;
  int64_t other_bytes = 0;  // parameters and buffers that are never pruned
  std::vector<std::string> warnings;

  int64_t layers_pruned() const;
  int64_t blocks_kept() const;  // over the pruned layers
  int64_t blocks() const;       // over the pruned layers
  double realised_sparsity() const;
  int64_t bytes_dense() const;
  int64_t bytes_sparse() const;
};

Json to_json(const ModelReport& report);

/// What training would prune.
ModelReport planned_report(const nn::Model& model, const prune::Plan& plan);

/// What the weights `tensors` (a state dict) really hold. `kept` lists the kept blocks of pruned layers;
/// throws Error where a block outside them is not zero.
ModelReport measured_report(const nn::Model& model, const prune::Plan& plan,
                            const std::map<std::string, at::Tensor>& tensors,
                            const std::map<std::string, std::vector<int64_t>>& kept);

/// The report of a run: of its model.safetensors, or of its newest checkpoint while it is unfinished.
ModelReport inspect_run(const RunFolder& run);

/// The kept blocks of every pruned layer as JSON, for a model file's metadata, and back.
std::string kept_blocks_text(const prune::Plan& plan,
                             const std::map<std::string, std::vector<int64_t>>& kept);
std::map<std::string, std::vector<int64_t>> parse_kept_blocks(const std::string& text,
                                                              const std::string& where);

/// Indices of the blocks in a support.
std::vector<int64_t> kept_indices(const at::Tensor& support);

}  // namespace hewn::train
