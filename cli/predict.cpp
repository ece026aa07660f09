#include "hewn/train/predict.h"

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

struct Fields {
  std::string model;
  train::PredictOptions options;
  std::string out;
  std::string logits;
  bool json = false;
};

int run(const Fields& fields) {
  if (fields.options.data.empty()) throw Error("data: expected --data NAME or NAME:PATH");
  const train::Predictions predictions = train::predict(fields.model, fields.options);
  if (!fields.out.empty()) train::write_predictions(fields.out, predictions);
  if (!fields.logits.empty()) train::write_logits(fields.logits, predictions);
  const double rate = static_cast<double>(predictions.samples) / predictions.seconds;
  if (fields.json) {
    std::cout << Json{{"model", fields.model},          {"data", fields.options.data},
                      {"samples", predictions.samples}, {"metrics", predictions.metrics},
                      {"seconds", predictions.seconds}, {"samples_per_second", rate}}
                     .dump()
              << '\n';
    return 0;
  }
  for (const auto& [name, value] : predictions.metrics) {
    std::cout << "test " << name << ": " << metric_text(name, value) << '\n';
  }
  std::cout << predictions.samples << " samples, " << fixed(rate, 0) << " a second\n";
  return 0;
}

}  // namespace

Command predict_command() {
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "predict";
  command.help = "run a model.hewn file on a test set, without LibTorch's layers";
  command.example = "hewn predict model.hewn --data fashion-mnist --out predictions.csv";
  command.positionals = {{"MODEL", "file that hewn export wrote", &fields->model}};
  command.options.add("data", fields->options.data, "data, NAME or NAME:PATH");
  data::describe(fields->options.clicks, command.options);
  data::describe(fields->options.folders, command.options);
  command.options.add("batch", fields->options.batch, "samples at a time");
  command.options.add("threads", fields->options.threads, "CPU threads; 0: all cores");
  command.options.add("limit", fields->options.limit, "only so many samples; 0: all");
  command.options.add("out", fields->out, "file for class and score of every sample (CSV)");
  command.options.add("logits", fields->logits, "file for the raw outputs (safetensors)");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run(*fields); };
  return command;
}

}  // namespace hewn::cli
