#include <iostream>
#include <memory>

#include "cli/command.h"
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

struct EvalFields {
  std::string source;
  run::Options options;
  bool json = false;

  EvalFields() {
    options.data.clear();   // the run's own
    options.model.clear();  // likewise
  }
};

/// A network from elsewhere has no run folder that says what it is.
run::Metrics evaluate_init(const Given& given) {
  for (const char* needed : {"model", "data"}) {
    if (!given.contains(needed)) throw Error(str("weights: expected --", needed, " beside them"));
  }
  Terminal terminal(/*quiet=*/false);
  return deploy::evaluate_weights(run::options_from(training_part(given)), terminal);
}

int run_eval(EvalFields fields, Given given) {
  using io::SourceKind;
  if (fields.options.init.empty() == fields.source.empty()) {
    throw Error("eval: expected SOURCE, a run folder or a weights file; see hewn eval --help");
  }
  if (fields.options.init.empty() &&
      source_kind("eval", fields.source, {SourceKind::kRun, SourceKind::kWeights, SourceKind::kTorch}) !=
          SourceKind::kRun) {
    given["init"] = fields.options.init = fields.source;
  }
  const bool from_file = !fields.options.init.empty();
  if (!from_file && (given.contains("model") || given.contains("width") || given.contains("widths"))) {
    throw Error("eval: --model and its widths go with weights; a run folder knows its own");
  }
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

}  // namespace

Command eval_command() {
  const auto fields = std::make_shared<EvalFields>();
  Command command;
  command.name = "eval";
  command.help = "evaluate a run's model, or weights from elsewhere, on a test set";
  command.example =
      "hewn eval runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --json\n"
      "  hewn eval resnet20.safetensors --model resnet20 --data cifar10:cifar-10-batches-bin";
  command.positionals = {
      {"SOURCE", "run folder, or weights from elsewhere (.safetensors, .pt)", &fields->source, false}};
  command.options =
      run::describe(fields->options)
          .pick({"data", "init", "init-skip", "model", "widths", "width", "embedding", "device", "threads"});
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_eval(*fields, given); };
  return command;
}

}  // namespace hewn::cli
