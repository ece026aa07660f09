#include "cli/usage/predict.h"

#include <memory>

namespace hewn::cli {

Command predict_command() {
  const auto fields = std::make_shared<PredictFields>();
  Command command;
  command.name = "predict";
  command.help = "run a model on new images, click logs or rows, or on a test set";
  command.example =
      "hewn predict model.hewn photo.jpg photos/ --top-k 3\n"
      "  hewn predict model.hewn log.tsv --out predictions.csv\n"
      "  hewn predict model.hewn --data fashion-mnist --out outputs.npy";
  command.positionals = {{"MODEL", "model.hewn, or the folder of a finished run", &fields->model},
                         {"INPUT",
                          "images, folders of them, click logs, or the model's inputs (.npy, .npz, .csv, "
                          "input=FILE); - for standard input",
                          nullptr, false, &fields->inputs}};
  command.options = run::describe(fields->options)
                        .pick({"data", "schema", "cache", "min-count", "hash-size", "split", "test-share",
                               "validation-share", "bad-rows", "image-size", "eval-resize", "crop-area",
                               "workers", "bad-images", "batch", "threads"});
  command.options.add("limit", fields->limit, "only so many samples; 0: all");
  command.options.add("top-k", fields->top_k, "so many classes of each sample, the likeliest first");
  command.options.add("out", fields->out,
                      "file to write: .csv (class and score), .npy or .npz (raw outputs) or .json (all)");
  command.options.add("logits", fields->logits, "file for the raw outputs (safetensors)");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_predict(*fields, given); };
  return command;
}

}  // namespace hewn::cli
