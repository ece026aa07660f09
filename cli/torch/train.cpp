#include "cli/usage/train.h"

#include <iostream>
#include <optional>

#include "cli/stop.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/run/config.h"
#include "hewn/run/folder.h"
#include "hewn/run/options.h"
#include "hewn/run/stopped.h"
#include "hewn/tensor/device.h"
#include "hewn/train/job.h"
#include "hewn/train/ranks/same_ranks.h"

namespace hewn::cli {
namespace {

void print_summary(const run::Summary& s, const run::Folder& run) {
  const bool compared = s.dense_metrics.has_value();
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& what, const std::string& dense, const std::string& sparse) {
    rows.push_back(compared ? std::vector<std::string>{what, dense, sparse}
                            : std::vector<std::string>{what, sparse});
  };
  add("", "dense", s.method);
  for (const auto& [name, value] : s.metrics) {
    add(s.eval_on.value_or("test") + " " + name, compared ? metric_text(name, s.dense_metrics->at(name)) : "",
        metric_text(name, value));
  }
  if (s.best_test_loss) {
    const std::string best = metric_text("loss", *s.best_test_loss);
    add("lowest loss possible", best, best);
  }
  if (s.blocks > 0) add("kept blocks", str(s.blocks), str(s.kept_blocks, " of ", s.blocks));
  add("realised sparsity", percent(0), percent(s.realised_sparsity));
  add("bytes", bytes_text(s.bytes_dense), bytes_text(s.bytes_sparse));
  if (s.products_dense)
    add("multiply-adds a sample", count_text(*s.products_dense), count_text(s.products_sparse.value_or(0)));
  if (s.expected_ms_dense)
    add("ms by the costs", fixed(*s.expected_ms_dense, 3), fixed(s.expected_ms_sparse.value_or(0), 3));
  add("training time", compared ? clock_text(s.dense_seconds.value_or(0)) : "", clock_text(s.seconds));
  std::cout << '\n';
  print_table(std::cout, rows,
              compared ? std::vector<bool>{false, true, true} : std::vector<bool>{false, true});
  std::cout << "\nrun folder: " << run.path.string() << "  (hewn report, hewn inspect, hewn eval)\n";
}

/// How a run that was stopped goes on.
void print_stopped(const run::Stopped& stopped, const run::Folder& run, const dist::Place& place) {
  std::cerr << "hewn: " << stopped.what() << '\n';
  if (!run.started()) {
    std::cerr << "nothing of the run is written yet; the same command begins anew\n";
    return;
  }
  std::cerr << "go on with: hewn train --resume --out " << shell_word(run.path.string())
            << (place.alone() ? "" : ", in as many processes as you like") << '\n';
}

}  // namespace

int run_train(TrainFields& fields, const Given& given) {
  const Given training = training_part(given);
  fields.options = run::options_from(training);
  const dist::Place place = dist::place_from_environment();
  run::Folder folder{fields.options.out};
  std::optional<run::FreshFolder> claim;
  if (fields.options.out.empty()) {
    if (fields.resume) throw Error("--resume: name the run folder with --out");
    if (place.first()) {
      claim.emplace(fields.options);
      folder = claim->folder();
    }
  }
  if (place.first() && fields.resume && folder.started()) {
    fields.options = run::resumed_options(folder, training);
  }
  const auto group = dist::join(place, {tensor::find_device(fields.options.device, place.local_rank),
                                        std::chrono::seconds(fields.patience)});
  train::check_same_options(training, *group);
  run::Summary summary;
  try {
    Terminal terminal(fields.quiet || !place.first());
    StopOnSignals stop;
    run::Observers both({&terminal, &stop});
    summary = train::train(fields.options, folder, fields.resume, both, group);
  } catch (const run::Stopped& stopped) {
    if (place.first()) print_stopped(stopped, folder, place);
    return stopped_code();
  }
  if (!place.first()) return 0;
  if (fields.json) {
    std::cout << run::to_json(summary).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_summary(summary, folder);
  }
  return 0;
}

}  // namespace hewn::cli
