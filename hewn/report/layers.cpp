#include "hewn/report/layers.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/deploy/inspect_run.h"
#include "hewn/report/mask.h"
#include "hewn/report/series.h"

namespace hewn::report {
namespace {

/// Whether the record is of layers like these.
bool fits(const train::SupportRecord& record, const std::vector<prune::LayerPlan>& layers) {
  return std::all_of(layers.begin(), layers.end(), [&](const prune::LayerPlan& layer) {
    const auto found = record.layers.find(layer.name);
    return found == record.layers.end() || found->second.blocks.grid().blocks() == layer.grid.blocks();
  });
}

void take_record(const train::SupportRecord& record, LayerFacts& facts) {
  for (const train::LayerReport& layer : facts.report.layers) {
    const auto found = record.layers.find(layer.name);
    if (found == record.layers.end()) continue;
    facts.kept[layer.name] = found->second.blocks.flags();
    if (!found->second.importance.empty()) facts.importance[layer.name] = found->second.importance;
  }
}

}  // namespace

LayerFacts layer_facts(const run::Folder& run, const train::SupportRecord* newest,
                       std::vector<std::string>& problems) {
  const deploy::StartedRun started = deploy::StartedRun::open(run);
  const PrunerOptions& pruning = started.config.options.prune;
  LayerFacts facts;
  prune::Plan plan = started.plan();
  for (const prune::LayerPlan& layer : plan.layers) {
    if (layer.positions > 0) facts.products[layer.name] = layer.products();
  }
  if (run.finished() && !is_there(run.model())) {
    problems.push_back(str(run.model().string(), ": is missing"));
  } else if (run.finished()) {
    try {
      facts.report = deploy::inspect_run(run);
      facts.measured = true;
    } catch (const Error& problem) {
      problems.emplace_back(problem.what());
    }
  }
  if (newest != nullptr && !fits(*newest, plan.layers)) {
    problems.push_back(
        str((run.path / "supports").string(), ": the newest record is of other layers than these"));
    newest = nullptr;
  }
  if (!facts.measured) {
    for (prune::LayerPlan& layer : plan.layers) {
      if (pruning.method == "dense") {
        layer.pruned = false;
        layer.keep = layer.grid.blocks();
        layer.why_dense = "method dense";
      } else if (newest != nullptr && newest->layers.contains(layer.name)) {
        // Where layers share a budget the plan does not know how much goes to each.
        layer.keep = newest->layers.at(layer.name).blocks.kept();
      }
    }
    facts.report = train::planned_report(*started.model, plan);
  }
  if (newest != nullptr) {
    take_record(*newest, facts);
  } else if (facts.measured) {
    // Runs that wrote no records of their choices.
    for (const auto& [name, blocks] : deploy::FinishedRun::open(run).blocks)
      facts.kept[name] = blocks.flags();
  }
  return facts;
}

Json layer_rows(const LayerFacts& facts, const Json& config) {
  const Json execution = config.at("options").value("sparse-execution", Json());
  const std::string text = execution.is_string() ? execution.get<std::string>() : "off";
  Json rows = Json::array();
  for (const train::LayerReport& layer : facts.report.layers) {
    const auto products = facts.products.find(layer.name);
    const Json dense = products == facts.products.end() ? Json(nullptr) : Json(2 * products->second);
    const Json sparse =
        dense.is_null()
            ? Json(nullptr)
            : Json(std::llround(static_cast<double>(2 * products->second) * (1 - layer.realised_sparsity)));
    const bool on_blocks = text == "on" || ("," + text).find("," + layer.name + ":") != std::string::npos;
    Json row = {{"name", layer.name},
                {"shape", layer.shape},
                {"grid", {layer.grid.row_blocks(), layer.grid.col_blocks()}},
                {"blocks", layer.grid.blocks()},
                {"kept", layer.kept},
                {"pruned", layer.pruned},
                {"note", layer.note},
                {"requested", layer.pruned ? Json(facts.report.requested_sparsity) : Json(nullptr)},
                {"realised", rounded(layer.realised_sparsity)},
                {"bytes_dense", layer.bytes_dense},
                {"bytes_sparse", layer.bytes_sparse},
                {"flops_dense", dense},
                {"flops_sparse", sparse},
                {"trained_on_blocks", layer.pruned && on_blocks}};
    rows.push_back(std::move(row));
  }
  return rows;
}

Json layer_pictures(const LayerFacts& facts, int64_t most_cells) {
  Json pictures = Json::array();
  const int64_t each =
      std::max<int64_t>(1024, most_cells / std::max<int64_t>(1, static_cast<int64_t>(facts.kept.size())));
  for (const train::LayerReport& layer : facts.report.layers) {
    const auto kept = facts.kept.find(layer.name);
    if (kept == facts.kept.end()) continue;
    const auto importance = facts.importance.find(layer.name);
    Json one = {{"layer", layer.name}, {"block", {layer.grid.block.rows, layer.grid.block.cols}}};
    one.update(picture(layer.grid, kept->second,
                       importance == facts.importance.end() ? std::vector<float>{} : importance->second,
                       each));
    pictures.push_back(std::move(one));
  }
  return pictures;
}

}  // namespace hewn::report
