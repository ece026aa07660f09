#include "cli/usage/export.h"

#include <memory>

#include "cli/source.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

/// Tells weights from a run, and what means nothing for the one or the other.
void settle_export(ExportFields& fields, Given& given) {
  using io::SourceKind;
  if (fields.to.empty()) throw Error("to: expected --to FILE, for example model.hewn");
  for (const char* key : {"calibration", "samples", "percentile", "keep-f32"}) {
    if (fields.dtype != "int8" && given.contains(key)) throw Error(str(key, ": goes with --dtype int8 only"));
  }
  if (fields.dtype != "f32" && !fields.to.ends_with(".hewn"))
    throw Error(str("dtype: applies to .hewn files only, got ", fields.to));
  const bool run =
      source_kind("export", fields.source, {SourceKind::kRun, SourceKind::kWeights, SourceKind::kTorch}) ==
      SourceKind::kRun;
  if (!run) given["init"] = fields.options.init = fields.source;
  for (const char* needed : {"model", "data"}) {
    if (!run && !given.contains(needed)) throw Error(str("weights: expected --", needed, " beside them"));
  }
  for (const char* key : {"model", "data", "init-skip", "width", "widths", "embedding", "stem", "depth",
                          "patch", "image-size", "eval-resize", "context"}) {
    if (run && given.contains(key)) {
      throw Error(str("export: --", key, " goes with weights; a run folder knows its own"));
    }
  }
}

}  // namespace

Command export_command() {
  const auto fields = std::make_shared<ExportFields>();
  Command command;
  command.name = "export";
  command.help =
      "write a run's model, or weights from elsewhere, as a file for the runtime or other programs";
  command.example =
      "hewn export runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --to model.hewn\n"
      "  hewn export resnet20.pt --model resnet20 --data cifar10:cifar-10-batches-bin --to model.onnx\n"
      "  hewn export runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --to model.hewn --dtype int8";
  command.positionals = {
      {"SOURCE", "folder of a finished run, or weights from elsewhere (.safetensors, .pt)", &fields->source}};
  command.options = run::describe(fields->options)
                        .pick({"data", "init-skip", "model", "widths", "width", "stem", "depth", "patch",
                               "embedding", "image-size", "eval-resize", "context"});
  command.options.add("to", fields->to,
                      "file to write; its suffix is the format: .hewn, .onnx, .safetensors or .pt");
  command.options
      .add("dtype", fields->dtype,
           "type of the weights in a .hewn file: f32, bf16 or int8. Activations are held so too with int8, "
           "and "
           "with bf16 in networks with attention")
      .one_of({"f32", "bf16", "int8"});
  add_calibration_sources(command.options, fields->calibration,
                          "of int8: inputs to find the range of activations on, else 512 training samples of "
                          "its own data");
  add_quantise_options(command.options, fields->quantise);
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](Given given) {
    settle_export(*fields, given);
    return run_export(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
