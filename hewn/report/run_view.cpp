#include "hewn/report/run_view.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/report/mask.h"
#include "hewn/run/config.h"
#include "hewn/run/folder.h"
#include "hewn/run/method_name.h"

namespace hewn::report {
namespace {

Json phases_json(const MetricsLog& log, int64_t steps) {
  Json out = Json::array();
  const auto& marks = log.phases();
  for (size_t i = 0; i < marks.size(); ++i) {
    const int64_t end = i + 1 < marks.size() ? marks[i + 1].begin : std::min(log.step(), steps) + 1;
    out.push_back({marks[i].phase, marks[i].begin, end});
  }
  return out;
}

Json tests_json(const MetricsLog& log, size_t points) {
  Json out = Json::object();
  for (const auto& [name, series] : log.tests()) out[name] = to_json(thin(series, points));
  return out;
}

/// The newest value of every test metric.
Json last_tests(const MetricsLog& log) {
  Json out = Json::object();
  for (const auto& [name, series] : log.tests()) out[name] = series.y.back();
  return out;
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kFinished:
      return "finished";
    case Status::kRunning:
      return "running";
    case Status::kStopped:
      break;
  }
  return "stopped";
}

RunView::RunView(run::Folder run)
    : run_(std::move(run)), log_(run_.metrics()), dense_log_(run_.dense().metrics()) {
  const run::Config config = run::read_config(run_);
  steps_ = config.steps;
  config_ = read_json(run_.config());
  config_["options"] = config.options_json();  // by the keys of this version
  refresh();
}

std::string RunView::name() const {
  const auto path = std::filesystem::absolute(run_.path).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

bool RunView::refresh() {
  if (!run_.started())
    throw Error(str(run_.path.string(), ": is not a run folder any more (no config.json)"));
  const bool first = layers_.report.layers.empty();
  bool changed = log_.read_more();
  changed = dense_log_.read_more() || changed;
  if (summary_.is_null() && run_.finished()) {
    Json summary = read_json(run_.summary());
    if (!summary.is_object()) throw FormatError(run_.summary().string(), "is not a run's summary");
    summary_ = std::move(summary);
  }
  const Status now = !summary_.is_null()      ? Status::kFinished
                     : is_locked(run_.lock()) ? Status::kRunning
                                              : Status::kStopped;
  const bool ended = now != status_;
  const bool chosen = train::support_files(run_) != record_files_;
  if (first || ended || chosen) read_layers();  // may throw: then it is tried again
  status_ = now;
  return first || changed || ended || chosen;
}

void RunView::read_layers() {
  const auto files = train::support_files(run_);
  records_.clear();
  layer_problems_.clear();
  for (const auto& path : files) {
    try {
      records_.push_back(train::read_supports(path));
    } catch (const Error& problem) {
      layer_problems_.emplace_back(problem.what());
    }
  }
  layers_ = layer_facts(run_, records_.empty() ? nullptr : &records_.back(), layer_problems_);
  record_files_ = files;
}

std::vector<std::string> RunView::problems() const {
  std::vector<std::string> out = layer_problems_;
  if (!log_.problem().empty()) out.push_back(log_.problem());
  if (log_.torn() && status_ != Status::kRunning) {
    out.push_back(str(run_.metrics().string(), ": ends inside a line; what is left of it is left out"));
  }
  return out;
}

Json RunView::churn_json() const {
  Json out = Json::array();
  for (size_t i = 1; i < records_.size(); ++i) {
    if (records_[i].end) continue;
    Json layers = Json::object();
    double fresh = 0;
    double kept = 0;
    for (const auto& [name, layer] : records_[i].layers) {
      const auto before = records_[i - 1].layers.find(name);
      if (before == records_[i - 1].layers.end()) continue;
      const double share = churn(before->second.blocks.flags(), layer.blocks.flags());
      const auto count = static_cast<double>(layer.blocks.kept());
      layers[name] = rounded(share, 4);
      fresh += share * count;
      kept += count;
    }
    out.push_back(
        {{"step", records_[i].step}, {"all", rounded(kept == 0 ? 0 : fresh / kept, 4)}, {"layers", layers}});
  }
  return out;
}

Json RunView::method() const {
  Json plain = config_.at("options").value("method", Json());
  // What came of pruning a trained network has a name of its own.
  if (summary_.is_object() && summary_.contains("method") && summary_["method"] != plain) {
    return summary_["method"];
  }
  try {
    run::Options options;
    describe(options).from_json(config_.at("options"), run_.config().string());
    return run::method_name(options);
  } catch (const Error&) {
    return plain;
  }
}

Json RunView::headline() const {
  const train::ModelReport& report = layers_.report;
  double dense = 0;
  double sparse = 0;
  for (const train::LayerReport& layer : report.layers) {
    const auto found = layers_.products.find(layer.name);
    if (found == layers_.products.end()) continue;
    dense += 2 * static_cast<double>(found->second);
    sparse += 2 * static_cast<double>(found->second) * (1 - layer.realised_sparsity);
  }
  const auto from_summary = [&](const char* key) {
    return summary_.is_object() ? summary_.value(key, Json()) : Json();
  };
  const Json metrics = from_summary("metrics");
  return {{"metrics", metrics.is_object() ? metrics : last_tests(log_)},
          {"dense_metrics", from_summary("dense_metrics")},
          {"best_test_loss", from_summary("best_test_loss")},
          {"seconds", from_summary("seconds")},
          {"dense_seconds", from_summary("dense_seconds")},
          {"kept", report.blocks_kept()},
          {"blocks", report.blocks()},
          {"layers_pruned", report.layers_pruned()},
          {"layers", report.layers.size()},
          {"requested", report.requested_sparsity},
          {"realised", rounded(report.realised_sparsity())},
          {"bytes_dense", report.bytes_dense()},
          {"bytes_sparse", report.bytes_sparse()},
          {"flops_dense", dense},
          {"flops_sparse", sparse}};
}

Json RunView::to_json(const Detail& detail) const {
  const Json& options = config_.at("options");
  const auto curve = [&](const Series& series) { return report::to_json(thin(series, detail.points)); };
  Json out = {
      {"name", name()},
      {"path", run_.path.string()},
      {"status", name_of(status_)},
      {"hewn", config_.value("hewn", "")},
      {"libtorch", config_.value("libtorch", "")},
      {"problems", problems()},
      {"notes", layers_.report.warnings},
      {"method", method()},
      {"data", options.value("data", Json())},
      {"model", options.value("model", Json())},
      {"block", options.value("block", Json())},
      {"sparsity", options.value("sparsity", Json())},
      {"seed", options.value("seed", Json())},
      {"score", options.value("score", Json())},
      {"options", options},
      {"step", log_.step()},
      {"steps", steps_},
      {"headline", headline()},
      {"phases", phases_json(log_, steps_)},
      {"train",
       {{"loss", curve(log_.loss())}, {"accuracy", curve(log_.accuracy())}, {"lr", curve(log_.rate())}}},
      {"test", tests_json(log_, detail.points)},
      {"dense_test", tests_json(dense_log_, detail.points)},
      {"dense_step", dense_log_.step()},
      {"active", curve(log_.active())},
      {"measured", layers_.measured},
      {"layers", layer_rows(layers_, config_)},
      {"churn", churn_json()},
      {"records", records_.size()},
      {"masks", detail.cells == 0 ? Json::array() : layer_pictures(layers_, detail.cells)},
      {"masks_left_out", detail.cells == 0 && !layers_.kept.empty()}};
  // Layers share one budget each unless blocks compete across layers: only then are there two more curves.
  if (log_.least_active().y != log_.most_active().y) {
    out["active_least"] = curve(log_.least_active());
    out["active_most"] = curve(log_.most_active());
  }
  return out;
}

}  // namespace hewn::report
