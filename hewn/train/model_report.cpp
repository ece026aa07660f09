#include "hewn/train/model_report.h"

#include <ATen/TensorOperators.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/prune/reachability.h"
#include "hewn/prune/share_budget.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/limits.h"

namespace hewn::train {
namespace {

int64_t all_bytes(const nn::Model& model) {
  int64_t bytes = 0;
  for (const auto& [name, tensor] : tensor::state_dict(model)) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

LayerReport row_of(const prune::LayerPlan& plan) {
  LayerReport row;
  row.name = plan.name;
  row.shape = plan.shape;
  row.grid = plan.grid;
  row.kept = plan.keep;
  row.pruned = plan.pruned;
  row.note = plan.why_dense;
  row.bytes_dense = 4 * plan.elements();
  row.bytes_sparse = row.bytes_dense;
  row.products_dense = plan.products();
  row.products_sparse = row.products_dense;
  return row;
}

/// What a layer costs once it keeps so many elements in its blocks.
void set_sparse_costs(LayerReport& row, const prune::LayerPlan& plan, int64_t kept_elements) {
  const int64_t sparse = prune::sparse_bytes(row.grid, row.kept, kept_elements);
  row.bytes_sparse = std::min(row.bytes_dense, sparse);
  row.products_sparse = kept_elements * plan.positions;
}

/// Where a file of costs says them.
void set_times(LayerReport& row, const prune::LayerPlan& plan, const prune::Budget& budget) {
  if (budget.kind != prune::BudgetKind::kMs) return;
  row.ms_dense = static_cast<double>(plan.cost.dense) / prune::kPicoseconds;
  row.ms_sparse =
      row.pruned ? static_cast<double>(plan.cost.of_kept(row.kept, 0)) / prune::kPicoseconds : row.ms_dense;
}

/// The sum of a field that is above 0 in every layer.
template <class T>
std::optional<T> sum_of(const std::vector<LayerReport>& layers, T LayerReport::*dense,
                        T LayerReport::*field) {
  T sum = 0;
  for (const LayerReport& row : layers) {
    if (row.*dense <= 0) return std::nullopt;
    sum += row.*field;
  }
  return layers.empty() ? std::nullopt : std::optional(sum);
}

ModelReport empty_report(const nn::Model& model, const prune::Plan& plan) {
  ModelReport report;
  report.block = plan.options.block;
  report.requested_sparsity = plan.options.sparsity;
  report.budget = limit_json(plan);
  report.other_bytes = all_bytes(model);
  for (const prune::LayerPlan& layer : plan.layers) report.other_bytes -= 4 * layer.elements();
  return report;
}

void warn_of_dead_blocks(const nn::Model& model, const std::map<std::string, std::vector<uint8_t>>& keep,
                         ModelReport& report) {
  std::vector<prune::ChainLink> chain;
  for (const std::string& name : model.chain()) {
    const auto row = std::find_if(report.layers.begin(), report.layers.end(),
                                  [&](const LayerReport& layer) { return layer.name == name; });
    if (row == report.layers.end()) return;
    const auto kept = keep.find(name);
    chain.push_back({name, row->grid, kept == keep.end() ? std::vector<uint8_t>{} : kept->second});
  }
  for (const prune::LinkReach& reach : prune::reachability(chain)) {
    if (reach.live == reach.kept) continue;
    report.warnings.push_back(hewn::str("layer ", reach.name, ": ", reach.kept - reach.live, " of ",
                                        reach.kept, " kept blocks lie on no path from input to output",
                                        reach.live == 0 ? "; the network is cut in two" : ""));
  }
}

/// A ragged last column of blocks is small, so scores may rank all of it behind the others: with it go the
/// outputs.
void warn_of_lost_outputs(const std::map<std::string, std::vector<uint8_t>>& keep, ModelReport& report) {
  const LayerReport& last = report.layers.back();
  const auto kept = keep.find(last.name);
  if (kept == keep.end()) return;
  const Grid& grid = last.grid;
  int64_t lost = 0;
  for (int64_t col_block = 0; col_block < grid.col_blocks(); ++col_block) {
    int64_t blocks = 0;
    for (int64_t row_block = 0; row_block < grid.row_blocks(); ++row_block) {
      blocks += kept->second[static_cast<size_t>(row_block * grid.col_blocks() + col_block)];
    }
    if (blocks == 0) lost += grid.last_col(col_block) - grid.first_col(col_block);
  }
  if (lost == 0) return;
  report.warnings.push_back(
      hewn::str("layer ", last.name, ": ", lost, " of the network's ", grid.cols,
                " outputs have lost all their weights; leave this layer dense with min-blocks ",
                grid.blocks() + 1, " or prune-layers"));
}

void warn_of_too_few_blocks(const prune::Plan& plan, ModelReport& report) {
  for (const prune::LayerPlan& layer : plan.layers) {
    const int64_t needed = std::max(layer.grid.row_blocks(), layer.grid.col_blocks());
    if (!layer.pruned || layer.keep >= needed) continue;
    report.warnings.push_back(hewn::str("layer ", layer.name, ": keeps ", layer.keep, " blocks of a ",
                                        layer.grid.row_blocks(), "x", layer.grid.col_blocks(),
                                        " grid: some inputs or outputs must lose all their weights"));
  }
}

}  // namespace

int64_t ModelReport::layers_pruned() const {
  return std::count_if(layers.begin(), layers.end(), [](const LayerReport& row) { return row.pruned; });
}
int64_t ModelReport::blocks_kept() const {
  int64_t kept = 0;
  for (const LayerReport& row : layers) kept += row.pruned ? row.kept : 0;
  return kept;
}
int64_t ModelReport::blocks() const {
  int64_t all = 0;
  for (const LayerReport& row : layers) all += row.pruned ? row.grid.blocks() : 0;
  return all;
}
double ModelReport::realised_sparsity() const {
  double zeros = 0;
  double all = 0;
  for (const LayerReport& row : layers) {
    zeros += row.realised_sparsity * static_cast<double>(row.grid.elements());
    all += static_cast<double>(row.grid.elements());
  }
  return all == 0 ? 0 : zeros / all;
}
int64_t ModelReport::bytes_dense() const {
  int64_t bytes = other_bytes;
  for (const LayerReport& row : layers) bytes += row.bytes_dense;
  return bytes;
}
int64_t ModelReport::bytes_sparse() const {
  int64_t bytes = other_bytes;
  for (const LayerReport& row : layers) bytes += row.bytes_sparse;
  return bytes;
}
std::optional<int64_t> ModelReport::products_dense() const {
  return sum_of(layers, &LayerReport::products_dense, &LayerReport::products_dense);
}
std::optional<int64_t> ModelReport::products_sparse() const {
  return sum_of(layers, &LayerReport::products_dense, &LayerReport::products_sparse);
}
std::optional<double> ModelReport::ms_dense() const {
  return sum_of(layers, &LayerReport::ms_dense, &LayerReport::ms_dense);
}
std::optional<double> ModelReport::ms_sparse() const {
  return sum_of(layers, &LayerReport::ms_dense, &LayerReport::ms_sparse);
}

Json to_json(const ModelReport& report) {
  Json layers = Json::array();
  for (const LayerReport& row : report.layers) {
    layers.push_back({{"name", row.name},
                      {"shape", row.shape},
                      {"grid", {row.grid.row_blocks(), row.grid.col_blocks()}},
                      {"blocks", row.grid.blocks()},
                      {"kept", row.kept},
                      {"pruned", row.pruned},
                      {"realised_sparsity", row.realised_sparsity},
                      {"bytes_dense", row.bytes_dense},
                      {"bytes_sparse", row.bytes_sparse},
                      {"note", row.note}});
    Json& out = layers.back();
    if (row.products_dense > 0) {
      out["products_dense"] = row.products_dense;
      out["products_sparse"] = row.products_sparse;
    }
    if (row.ms_dense > 0) {
      out["expected_ms_dense"] = row.ms_dense;
      out["expected_ms_sparse"] = row.ms_sparse;
    }
    if (row.least > 0) out["least"] = row.least;
  }
  Json totals = Json::object();
  if (report.products_dense()) {
    totals["products_dense"] = *report.products_dense();
    totals["products_sparse"] = *report.products_sparse();
  }
  if (report.ms_dense()) {
    totals["expected_ms_dense"] = *report.ms_dense();
    totals["expected_ms_sparse"] = *report.ms_sparse();
  }
  Json all = {{"block", {report.block.rows, report.block.cols}},
              {"layers_total", report.layers.size()},
              {"layers_pruned", report.layers_pruned()},
              {"requested_sparsity", report.requested_sparsity},
              {"realised_sparsity", report.realised_sparsity()},
              {"kept_blocks", report.blocks_kept()},
              {"blocks", report.blocks()},
              {"bytes_dense", report.bytes_dense()},
              {"bytes_sparse", report.bytes_sparse()},
              {"budget", report.budget}};
  all.update(totals);
  if (!report.limits.empty()) all["limits"] = report.limits;
  all["warnings"] = report.warnings;
  all["layers"] = layers;
  return all;
}

ModelReport planned_report(const nn::Model& model, const prune::Plan& plan) {
  ModelReport report = empty_report(model, plan);
  for (const prune::LayerPlan& layer : plan.layers) {
    LayerReport row = row_of(layer);
    row.realised_sparsity = layer.realised_sparsity();
    // Which ragged blocks stay is not known yet; the average block stands for them.
    const double elements = static_cast<double>(layer.elements()) * (1 - row.realised_sparsity);
    if (row.pruned) set_sparse_costs(row, layer, std::llround(elements));
    if (row.pruned && plan.options.budget.shared()) row.least = prune::least_blocks(layer.keep);
    set_times(row, layer, plan.options.budget);
    report.layers.push_back(row);
  }
  report.limits = limit_notes(plan);
  // Where layers share a budget nobody knows yet how many each keeps.
  if (!plan.options.budget.shared()) warn_of_too_few_blocks(plan, report);
  return report;
}

ModelReport measured_report(const nn::Model& model, const prune::Plan& plan,
                            const std::map<std::string, at::Tensor>& tensors, const Blocks& blocks) {
  ModelReport report = empty_report(model, plan);
  std::map<std::string, std::vector<uint8_t>> keep;
  for (const prune::LayerPlan& layer : plan.layers) {
    LayerReport row = row_of(layer);
    const auto found = blocks.find(layer.name);
    row.pruned = found != blocks.end();
    row.kept = row.pruned ? found->second.kept() : layer.grid.blocks();
    if (row.pruned) {
      row.grid = found->second.grid();
      keep[layer.name] = found->second.flags();
      check_zeros(layer.name, tensors.at(weight_name(layer.name, tensors)), found->second);
      const int64_t kept_elements = found->second.elements();
      row.realised_sparsity = 1 - static_cast<double>(kept_elements) / static_cast<double>(layer.elements());
      set_sparse_costs(row, layer, kept_elements);
    }
    set_times(row, layer, plan.options.budget);
    report.layers.push_back(row);
  }
  warn_of_dead_blocks(model, keep, report);
  warn_of_lost_outputs(keep, report);
  return report;
}

}  // namespace hewn::train
