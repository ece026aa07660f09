#include "cli/usage/eval.h"

#include <iostream>
#include <memory>

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
run::Metrics evaluate_init(const Given& given) {
  Terminal terminal(/*quiet=*/false);
  return deploy::evaluate_weights(run::options_from(training_part(given)), terminal);
}

}  // namespace

int run_eval(EvalFields& fields, const Given& given) {
  const bool from_file = !fields.options.init.empty();
  const run::Metrics metrics = from_file
                                   ? evaluate_init(given)
                                   : deploy::evaluate_run({fields.source}, fields.options.data,
                                                          fields.options.device, fields.options.threads);
  if (fields.json) {
    Json out = {{"metrics", metrics}};
    out[from_file ? "init" : "run"] = from_file ? fields.options.init : fields.source;
    std::cout << out.dump() << '\n';
    return 0;
  }
  for (const auto& [name, value] : metrics)
    std::cout << "test " << name << ": " << metric_text(name, value) << '\n';
  return 0;
}

}  // namespace hewn::cli
