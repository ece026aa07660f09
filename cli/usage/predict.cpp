#include "cli/usage/predict.h"

#include <memory>

#include "cli/networks.h"
#include "hewn/core/error.h"
#include "hewn/io/source_kind.h"

namespace hewn::cli {

Command predict_command() {
  const auto fields = std::make_shared<PredictFields>();
  Command command;
  command.name = "predict";
  command.help = "run a model on new images, click logs or rows, or on a test set";
  command.example =
      "hewn predict model.hewn photo.jpg photos/ --top-k 3\n"
      "  hewn predict model.hewn log.tsv --out predictions.csv\n"
      "  hewn predict model.hewn --data fashion-mnist --out outputs.npy\n"
      "  hewn predict model.json new.csv --out predictions.csv\n"
      "  hewn predict network.hewn ids=ids.npy mask=mask.npy --out outputs.npz";
  command.positionals = {
      {"MODEL", "model.hewn, the folder of a finished run, an ONNX file, or model.json of hewn select",
       &fields->model},
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
  command.options.add("lambda", fields->lambda,
                      "model.json with a whole path: the point of it with the nearest lambda");
  command.options.add("header", fields->header, "model.json: whether the table has one: auto, yes or no");
  command.options.add("separator", fields->separator, "model.json: between fields: one character or tab");
  command.run = [fields](const Given& given) {
    if (io::kind_of(fields->model) == io::SourceKind::kSelector) return run_predict_rows(*fields, given);
    for (const char* key : {"lambda", "header", "separator"}) {
      if (given.contains(key)) throw Error(str(key, ": applies to models of hewn select only"));
    }
    if (is_network(fields->model) && !answers_samples(fields->model))
      return run_predict_network(*fields, given);
    return run_predict(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
