#include "cli/usage/predict.h"

#include "hewn/deploy/predict.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/deploy/predictions_file.h"
#include "hewn/deploy/samples.h"
#include "hewn/run/options.h"

namespace hewn::cli {
namespace {

// Rows and outputs of the printed table; --json and --out have all.
constexpr int64_t kShownSamples = 10;
constexpr int64_t kShownOutputs = 8;

deploy::PredictOptions predict_options(const PredictFields& fields) {
  const run::Options& o = fields.options;
  return {o.data, o.batch, o.threads, fields.limit, o.clicks, o.folders};
}

deploy::Predictions predict_inputs(const PredictFields& fields) {
  runtime::Model model = deploy::open_model(fields.model, fields.options.threads);
  deploy::Samples samples;
  for (const std::string& input : fields.inputs) {
    if (input != "-") {
      deploy::add_samples(input, model, samples);
      continue;
    }
    const std::string bytes(std::istreambuf_iterator<char>(std::cin), {});
    deploy::add_samples(bytes, "standard input", model, samples);
  }
  return deploy::predict(model, samples, fields.options.batch, fields.limit);
}

void print_json_predict(const PredictFields& fields, const deploy::Predictions& predictions, double rate) {
  Json out = {{"model", fields.model}};
  if (fields.inputs.empty()) {
    out["data"] = fields.options.data;
    out["samples"] = predictions.samples;
    out["metrics"] = predictions.metrics;
  } else {
    out["inputs"] = fields.inputs;
    out.update(deploy::to_json(predictions));
  }
  out["seconds"] = predictions.seconds;
  out["samples_per_second"] = rate;
  std::cout << out.dump() << '\n';
}

void print_first(const deploy::Predictions& predictions) {
  const int64_t shown = std::min(predictions.outputs, kShownOutputs);
  const bool more = shown < predictions.outputs;
  std::vector<std::vector<std::string>> rows = {{"sample"}};
  if (predictions.classifies()) rows[0].insert(rows[0].end(), {"class", "score"});
  for (int64_t k = 0; k < shown; ++k) rows[0].push_back(str("output ", k));
  if (more) rows[0].emplace_back("...");
  for (int64_t i = 0; i < std::min(predictions.samples, kShownSamples); ++i) {
    rows.push_back({str(i)});
    if (predictions.classifies()) {
      const int64_t chosen = predictions.class_of(i);
      const auto& names = predictions.classes;
      rows.back().push_back(names.empty() ? str(chosen) : plain_text(names[static_cast<size_t>(chosen)]));
      rows.back().push_back(fixed(predictions.score_of(i), 4));
    }
    for (int64_t k = 0; k < shown; ++k) {
      rows.back().push_back(fixed(
          static_cast<double>(predictions.logits[static_cast<size_t>(i * predictions.outputs + k)]), 4));
    }
    if (more) rows.back().emplace_back("");
  }
  print_table(std::cout, rows, std::vector<bool>(rows[0].size(), true));
  if (predictions.samples > kShownSamples) std::cout << "...\n";
}

}  // namespace

int run_predict(PredictFields& fields, const Given& /*given*/) {
  using io::SourceKind;
  if (fields.options.data.empty() == fields.inputs.empty()) {
    throw Error("predict: expected one of INPUT files and --data NAME or NAME:PATH");
  }
  if (std::count(fields.inputs.begin(), fields.inputs.end(), "-") > 1) {
    throw Error("-: standard input can be read once only");
  }
  if (!fields.out.empty()) deploy::check_predictions_file(fields.out);
  source_kind("predict", fields.model, {SourceKind::kModel, SourceKind::kRun});
  const deploy::Predictions predictions =
      fields.inputs.empty() ? deploy::predict(fields.model, predict_options(fields)) : predict_inputs(fields);
  if (!fields.out.empty()) deploy::write_predictions(fields.out, predictions);
  if (!fields.logits.empty()) deploy::write_logits(fields.logits, predictions);
  const double rate = static_cast<double>(predictions.samples) / predictions.seconds;
  if (fields.json) {
    print_json_predict(fields, predictions, rate);
    return 0;
  }
  if (fields.out.empty()) print_first(predictions);
  for (const auto& [name, value] : predictions.metrics) {
    std::cout << "test " << name << ": " << metric_text(name, value) << '\n';
  }
  std::cout << predictions.samples << (predictions.samples == 1 ? " sample, " : " samples, ")
            << fixed(rate, 0) << " a second\n";
  return 0;
}

}  // namespace hewn::cli
