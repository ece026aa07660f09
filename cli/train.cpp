#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/train/job.h"
#include "hewn/train/setup.h"

namespace hewn::cli {
namespace {

struct TrainFields {
  train::TrainOptions options;
  bool resume = false;
  int64_t patience = 30;
  bool quiet = false;
  bool json = false;
};

void print_summary(const Json& s, const train::RunFolder& run) {
  const bool compared = s.contains("dense_metrics");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& what, const std::string& dense, const std::string& sparse) {
    rows.push_back(compared ? std::vector<std::string>{what, dense, sparse}
                            : std::vector<std::string>{what, sparse});
  };
  const auto number = [](const Json& value) { return value.get<double>(); };
  add("", "dense", s["method"].get<std::string>());
  for (const auto& [name, value] : s["metrics"].items()) {
    add("test " + name, compared ? metric_text(name, number(s["dense_metrics"][name])) : "",
        metric_text(name, number(value)));
  }
  if (!s["best_test_loss"].is_null()) {
    const std::string best = metric_text("loss", number(s["best_test_loss"]));
    add("lowest loss possible", best, best);
  }
  const auto kept = s["kept_blocks"].get<int64_t>();
  const auto blocks = s["blocks"].get<int64_t>();
  add("kept blocks", str(blocks), str(kept, " of ", blocks));
  add("realised sparsity", percent(0), percent(number(s["realised_sparsity"])));
  add("bytes", bytes_text(s["bytes_dense"].get<int64_t>()), bytes_text(s["bytes_sparse"].get<int64_t>()));
  add("training time", compared ? clock_text(number(s["dense_seconds"])) : "",
      clock_text(number(s["seconds"])));
  std::cout << '\n';
  print_table(std::cout, rows,
              compared ? std::vector<bool>{false, true, true} : std::vector<bool>{false, true});
  std::cout << "\nrun folder: " << run.path.string() << "  (hewn report, hewn inspect, hewn eval)\n";
}

int run_train(TrainFields& fields, const Given& given) {
  Given training = given;
  for (const char* key : {"resume", "patience", "quiet", "json"}) training.erase(key);
  fields.options = train::options_from(training);
  const dist::Place place = dist::place_from_environment();
  train::RunFolder folder{fields.options.out};
  if (fields.options.out.empty()) {
    if (fields.resume) throw Error("--resume: name the run folder with --out");
    folder = train::fresh_run_folder(fields.options);
  }
  if (place.first() && fields.resume && folder.started()) {
    fields.options = train::resumed_options(folder, training);
  }
  const auto group = dist::join(
      place, {train::find_device(fields.options.device, place), std::chrono::seconds(fields.patience)});
  Json summary;
  {
    Terminal terminal(fields.quiet || !place.first());
    summary = train::train(fields.options, folder, fields.resume, terminal, group);
  }
  if (!place.first()) return 0;
  if (fields.json) {
    std::cout << summary.dump() << '\n';
  } else {
    print_summary(summary, folder);
  }
  return 0;
}

}  // namespace

Command train_command() {
  const auto fields = std::make_shared<TrainFields>();
  Command command;
  command.name = "train";
  command.help = "train a block-sparse network";
  command.example = "hewn train --method sa++ --block 16 --sparsity 0.9 --compare-dense";
  command.options = train::describe(fields->options);
  command.options.add("resume", fields->resume, "continue the run in --out from its newest checkpoint");
  command.options.add("patience", fields->patience,
                      "seconds that a process waits for another that does not answer");
  command.options.add("quiet", fields->quiet, "show no progress");
  command.options.add("json", fields->json, "print the summary as JSON");
  command.takes_config = true;
  command.run = [fields](const Given& given) { return run_train(*fields, given); };
  return command;
}

}  // namespace hewn::cli
