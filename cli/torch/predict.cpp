#include "cli/usage/predict.h"

#include <algorithm>
#include <iostream>

#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/deploy/inputs/new_data.h"
#include "hewn/deploy/predict.h"
#include "hewn/deploy/predictions_file.h"
#include "hewn/run/options.h"

namespace hewn::cli {
namespace {

// Rows and outputs of the printed table; --json and --out have all.
constexpr int64_t kShownSamples = 10;
constexpr int64_t kShownOutputs = 8;

deploy::PredictOptions predict_options(const PredictFields& fields) {
  const run::Options& o = fields.options;
  return {o.data, o.batch, o.threads, fields.limit, o.clicks, o.folders, o.tables};
}

deploy::Predictions predict_inputs(const PredictFields& fields) {
  deploy::OpenModel model = deploy::open_model(fields.model, fields.options.threads);
  const auto say = [](const std::string& text) { std::cerr << text << '\n'; };
  const run::Options& options = fields.options;
  return deploy::predict(
      model, fields.inputs, std::cin,
      {options.batch, fields.limit, options.folders.workers, options.folders.bad_images, say});
}

void print_json_predict(const PredictFields& fields, const deploy::Predictions& predictions, double rate) {
  Json out = {{"model", fields.model}};
  if (fields.inputs.empty()) {
    out["data"] = fields.options.data;
    out["samples"] = predictions.samples;
    out["metrics"] = predictions.metrics;
  } else {
    out["inputs"] = fields.inputs;
    out.update(deploy::to_json(predictions, fields.top_k));
  }
  out["seconds"] = predictions.seconds;
  out["samples_per_second"] = rate;
  std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

/// The name of a class where it has one.
std::string class_text(const deploy::Predictions& predictions, int64_t number) {
  const auto& names = predictions.classes;
  return names.empty() ? str(number) : plain_text(names[static_cast<size_t>(number)]);
}

std::vector<std::string> shown_row(const deploy::Predictions& predictions, int64_t sample, int64_t top_k) {
  const auto at = static_cast<size_t>(sample);
  std::vector<std::string> row = {predictions.files.empty() ? str(sample)
                                                            : plain_text(predictions.files[at])};
  if (top_k > 1) {
    for (const int64_t one : predictions.top_of(sample, top_k)) {
      row.push_back(class_text(predictions, one));
      row.push_back(fixed(predictions.probability_of(sample, one), 4));
    }
  } else if (predictions.classifies()) {
    row.push_back(class_text(predictions, predictions.class_of(sample)));
    row.push_back(fixed(predictions.score_of(sample), 4));
  }
  return row;
}

void print_first(const deploy::Predictions& predictions, int64_t top_k) {
  // Beside names, raw outputs would only be in the way.
  const bool raw = predictions.files.empty() && top_k == 1;
  const int64_t shown = raw ? std::min(predictions.outputs, kShownOutputs) : 0;
  const bool more = raw && shown < predictions.outputs;
  std::vector<std::vector<std::string>> rows = {{predictions.files.empty() ? "sample" : "file"}};
  for (int64_t k = 0; k < top_k && predictions.classifies(); ++k)
    rows[0].insert(rows[0].end(), {"class", "score"});
  for (int64_t k = 0; k < shown; ++k) rows[0].push_back(str("output ", k));
  if (more) rows[0].emplace_back("...");
  for (int64_t i = 0; i < std::min(predictions.samples, kShownSamples); ++i) {
    rows.push_back(shown_row(predictions, i, top_k));
    for (int64_t k = 0; k < shown; ++k) {
      rows.back().push_back(fixed(
          static_cast<double>(predictions.logits[static_cast<size_t>(i * predictions.outputs + k)]), 4));
    }
    if (more) rows.back().emplace_back("");
  }
  std::vector<bool> right(rows[0].size(), true);
  right[0] = predictions.files.empty();
  print_table(std::cout, rows, right);
  if (predictions.samples > kShownSamples) std::cout << "... (--out FILE or --json for all)\n";
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
  source_kind("predict", fields.model, {SourceKind::kModel, SourceKind::kRun, SourceKind::kSelector});
  const deploy::Predictions predictions =
      fields.inputs.empty() ? deploy::predict(fields.model, predict_options(fields)) : predict_inputs(fields);
  deploy::check_top_k(fields.top_k, predictions);
  if (!fields.out.empty()) deploy::write_predictions(fields.out, predictions, fields.top_k);
  if (!fields.logits.empty()) deploy::write_logits(fields.logits, predictions);
  const double rate = static_cast<double>(predictions.samples) / predictions.seconds;
  if (fields.json) {
    print_json_predict(fields, predictions, rate);
    return 0;
  }
  if (fields.out.empty()) print_first(predictions, fields.top_k);
  for (const auto& [name, value] : predictions.metrics) {
    std::cout << "test " << name << ": " << metric_text(name, value) << '\n';
  }
  std::cout << predictions.samples << (predictions.samples == 1 ? " sample, " : " samples, ")
            << fixed(rate, 0) << " a second\n";
  return 0;
}

}  // namespace hewn::cli
