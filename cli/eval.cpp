#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/train/job.h"

namespace hewn::cli {
namespace {

struct EvalFields {
  std::string source;
  std::string data;
  std::string init;
  std::string init_skip;
  std::string model;
  std::vector<int64_t> widths;
  int64_t width = 64;
  std::string device = "cpu";
  int64_t threads = 0;
  bool json = false;
};

/// A network from elsewhere has no run folder that says what it is.
train::Metrics evaluate_init(const Given& given) {
  for (const char* needed : {"model", "data"}) {
    if (!given.contains(needed)) throw Error(str("weights: expected --", needed, " beside them"));
  }
  Given training = given;
  training.erase("json");
  return train::evaluate_weights(train::options_from(training));
}

int run_eval(EvalFields fields, Given given) {
  using io::SourceKind;
  if (fields.init.empty() == fields.source.empty()) {
    throw Error("eval: expected SOURCE, a run folder or a weights file; see hewn eval --help");
  }
  if (fields.init.empty() &&
      source_kind("eval", fields.source, {SourceKind::kRun, SourceKind::kWeights}) == SourceKind::kWeights) {
    given["init"] = fields.init = fields.source;
  }
  const bool from_file = !fields.init.empty();
  if (!from_file && (given.contains("model") || given.contains("width") || given.contains("widths"))) {
    throw Error("eval: --model and its widths go with weights; a run folder knows its own");
  }
  const train::Metrics metrics =
      from_file ? evaluate_init(given)
                : train::evaluate_run({fields.source}, fields.data, fields.device, fields.threads);
  if (fields.json) {
    Json out = {{"metrics", metrics}};
    out[from_file ? "init" : "run"] = from_file ? fields.init : fields.source;
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
      {"SOURCE", "run folder, or weights from elsewhere (.safetensors)", &fields->source, false}};
  command.options.add("data", fields->data, "other data, NAME:PATH");
  command.options.add("init", fields->init, "old spelling of a SOURCE that is a weights file");
  command.options.add("init-skip", fields->init_skip, "patterns of tensors that the file need not give");
  command.options.add("model", fields->model, "network that the weights are for");
  command.options.add("widths", fields->widths, "its hidden widths, where it is an mlp or ctr-dnn");
  command.options.add("width", fields->width, "channels in its first stage, where it is a resnet");
  command.options.add("device", fields->device, "cpu, cuda or cuda:N");
  command.options.add("threads", fields->threads, "CPU threads; 0: all cores");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_eval(*fields, given); };
  return command;
}

}  // namespace hewn::cli
