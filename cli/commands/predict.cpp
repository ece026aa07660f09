#include "hewn/deploy/predict.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/command.h"
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

struct PredictFields {
  std::string model;
  std::vector<std::string> inputs;
  run::Options options;
  int64_t limit = 0;
  std::string out;
  std::string logits;
  bool json = false;

  PredictFields() { options.data.clear(); }

  deploy::PredictOptions predict_options() const {
    return {options.data, options.batch, options.threads, limit, options.clicks, options.folders};
  }
};

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

int run_predict(const PredictFields& fields) {
  using io::SourceKind;
  if (fields.options.data.empty() == fields.inputs.empty()) {
    throw Error("predict: expected one of INPUT files and --data NAME or NAME:PATH");
  }
  if (std::count(fields.inputs.begin(), fields.inputs.end(), "-") > 1) {
    throw Error("-: standard input can be read once only");
  }
  if (!fields.out.empty()) deploy::check_predictions_file(fields.out);
  source_kind("predict", fields.model, {SourceKind::kModel, SourceKind::kRun});
  const deploy::Predictions predictions = fields.inputs.empty()
                                              ? deploy::predict(fields.model, fields.predict_options())
                                              : predict_inputs(fields);
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

}  // namespace

Command predict_command() {
  const auto fields = std::make_shared<PredictFields>();
  Command command;
  command.name = "predict";
  command.help = "run a model on files or on a test set, without LibTorch's layers";
  command.example =
      "hewn predict model.hewn x.npy --out predictions.csv\n"
      "  hewn predict model.hewn --data fashion-mnist --out outputs.npy";
  command.positionals = {{"MODEL", "model.hewn, or the folder of a finished run", &fields->model},
                         {"INPUT", "samples: .npy, .npz or .csv files, input=FILE, or - for standard input",
                          nullptr, false, &fields->inputs}};
  command.options = run::describe(fields->options)
                        .pick({"data", "schema", "cache", "min-count", "hash-size", "split", "test-share",
                               "validation-share", "bad-rows", "image-size", "eval-resize", "crop-area",
                               "workers", "bad-images", "batch", "threads"});
  command.options.add("limit", fields->limit, "only so many samples; 0: all");
  command.options.add("out", fields->out,
                      "file to write: .csv (class and score), .npy or .npz (raw outputs) or .json (all)");
  command.options.add("logits", fields->logits, "file for the raw outputs (safetensors)");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run_predict(*fields); };
  return command;
}

}  // namespace hewn::cli
