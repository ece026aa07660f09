#include "cli/usage/eval.h"

#include <memory>

#include "cli/source.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

/// Tells weights from a run, and what means nothing for the one or the other.
void settle_eval(EvalFields& fields, Given& given) {
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
  for (const char* needed : {"model", "data"}) {
    if (from_file && !given.contains(needed))
      throw Error(str("weights: expected --", needed, " beside them"));
  }
  if (given.contains("precision") && fields.options.precision != "fp32" && fields.options.device == "cpu")
    throw Error("precision: evaluations in bf16 are for a GPU, as with --device cuda");
  for (const char* key : {"model", "width", "widths", "embedding", "stem", "depth", "patch", "image-size",
                          "eval-resize", "context"}) {
    if (!from_file && given.contains(key))
      throw Error(str("eval: --", key, " goes with weights; a run folder knows its own"));
  }
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
          .pick({"data", "init", "init-skip", "model", "widths", "width", "stem", "depth", "patch",
                 "embedding", "image-size", "eval-resize", "context", "device", "precision", "threads"});
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](Given given) {
    settle_eval(*fields, given);
    return run_eval(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
