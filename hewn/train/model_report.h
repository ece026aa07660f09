#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/core/json.h"
#include "hewn/nn/model.h"
#include "hewn/prune/plan.h"

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
  int64_t bytes_sparse = 0;    // as dense where that is smaller
  int64_t products_dense = 0;  // multiply-adds of one sample; 0: not known
  int64_t products_sparse = 0;
  double ms_dense = 0;  // by the file of costs; 0: there is none
  double ms_sparse = 0;
  int64_t least = 0;  // planned: blocks that it keeps whatever other layers offer
};

/// The whole model: what `hewn plan` and `hewn inspect` show.
struct ModelReport {
  BlockShape block;
  double requested_sparsity = 0;
  std::vector<LayerReport> layers;
  int64_t other_bytes = 0;  // parameters and buffers that are never pruned
  std::vector<std::string> warnings;
  Json budget;                      // limit_json (train/limits.h)
  std::vector<std::string> limits;  // planned: the same in words

  int64_t layers_pruned() const;
  int64_t blocks_kept() const;  // over the pruned layers
  int64_t blocks() const;       // over the pruned layers
  double realised_sparsity() const;
  int64_t bytes_dense() const;
  int64_t bytes_sparse() const;
  /// Over all prunable layers; nothing where something is not known of one.
  std::optional<int64_t> products_dense() const;
  std::optional<int64_t> products_sparse() const;
  std::optional<double> ms_dense() const;
  std::optional<double> ms_sparse() const;
};

Json to_json(const ModelReport& report);

/// What training would prune.
ModelReport planned_report(const nn::Model& model, const prune::Plan& plan);

/// What the weights `tensors` (a state dict) really hold. Throws Error where `blocks` are of another grid
/// than the model's, or where a weight is not zero outside them.
ModelReport measured_report(const nn::Model& model, const prune::Plan& plan,
                            const std::map<std::string, at::Tensor>& tensors, const Blocks& blocks);

}  // namespace hewn::train
