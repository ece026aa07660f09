#include "cli/usage/eval.h"

#include <iostream>

#include "cli/source.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/deploy/evaluate.h"
#include "hewn/run/options.h"
#include "hewn/train/job.h"

namespace hewn::cli {
namespace {

/// A network from elsewhere has no run folder that says what it is.
deploy::Evaluated evaluate_init(const Given& given, Terminal& terminal) {
  return deploy::evaluate_weights(run::options_from(training_part(given)), terminal);
}

}  // namespace

int run_eval(EvalFields& fields, const Given& given) {
  const bool from_file = !fields.options.init.empty();
  if (!given.contains("precision")) fields.options.precision.clear();  // the run's own
  deploy::Evaluated found;
  {
    Terminal terminal(/*quiet=*/false);
    found = from_file ? evaluate_init(given, terminal)
                      : deploy::evaluate_run({fields.source}, fields.options, terminal);
  }
  if (fields.json) {
    Json out = {{"metrics", found.metrics}};
    if (found.part != data::Part::kTest) out["eval_on"] = run::name_of(found.part);
    if (!found.on_kept_blocks.empty()) out["on_kept_blocks"] = found.on_kept_blocks;
    out[from_file ? "init" : "run"] = from_file ? fields.options.init : fields.source;
    std::cout << out.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  if (!found.on_kept_blocks.empty()) {
    std::string layers;
    for (const std::string& layer : found.on_kept_blocks) layers += str(layers.empty() ? "" : ", ", layer);
    std::cout << "on kept blocks: " << layers << '\n';
  }
  for (const auto& [name, value] : found.metrics)
    std::cout << run::name_of(found.part) << " " << name << ": " << metric_text(name, value) << '\n';
  return 0;
}

}  // namespace hewn::cli
