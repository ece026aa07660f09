#include <iostream>
#include <memory>

#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/networks.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/int8/quantise.h"
#include "hewn/flow/model_file.h"

namespace hewn::cli {
namespace {

struct ImportFields {
  std::string model;
  std::string to;
  int64_t block = 0;
  std::string dtype = "f32";
  CalibrationFields calibration;
  flow::QuantiseOptions quantise;
  bool json = false;
};

/// What says how numbers are held goes with int8, which needs calibration, and bf16.
void check_dtype(const ImportFields& fields, const Given& given) {
  if (fields.dtype == "int8") {
    if (fields.calibration.from.empty()) {
      throw Error("calibration: --dtype int8 needs inputs, as in --calibration inputs.npy");
    }
    return;
  }
  for (const char* key :
       {"calibration", "samples", "image-size", "eval-resize", "image-mean", "image-std", "percentile"}) {
    if (given.contains(key)) throw Error(str(key, ": goes with --dtype int8 only"));
  }
  if (fields.dtype == "f32" && given.contains("keep-f32"))
    throw Error("keep-f32: goes with --dtype int8 or bf16 only");
}

}  // namespace

Command import_command() {
  const auto fields = std::make_shared<ImportFields>();
  Command command;
  command.name = "import";
  command.help = "make a model.hewn of an ONNX file";
  command.example =
      "hewn import model.onnx --to model.hewn\n"
      "  hewn import model.onnx --to model.hewn --dtype bf16\n"
      "  hewn import model.onnx --to model.hewn --dtype int8 --calibration inputs.npy";
  command.positionals = {{"MODEL", "ONNX file", &fields->model}};
  command.options.add("to", fields->to, "file to write: model.hewn");
  command.options.add("block", fields->block,
                      "look for blocks of zeros of this size only; 0: of 4, 8, 16 and 32");
  command.options.add("dtype", fields->dtype, "how weights and activations are held: f32, bf16 or int8")
      .one_of({"f32", "bf16", "int8"});
  add_calibration_options(command.options, fields->calibration,
                          "of int8: inputs to find the range of activations on");
  add_quantise_options(command.options, fields->quantise);
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    if (!given.contains("to")) throw Error("to: expected the file to write, model.hewn");
    if (!fields->to.ends_with(".hewn"))
      throw Error(str("to: expected a name that ends in .hewn, got ", fields->to));
    if (fields->block < 0 || fields->block > 1024)
      throw Error(str("block: expected 0 to 1024, got ", fields->block));
    check_dtype(*fields, given);
    NetworkSource source = open_network(fields->model);
    if (fields->dtype == "int8") {
      const Calibration calibration = read_calibration(source.graph, image_rule_in(fields->model),
                                                       fields->calibration, flow::kObservedAtOnce);
      if (!calibration.images.empty() && !fields->json)
        std::cout << "calibration: " << calibration.images << '\n';
      flow::quantise(source.graph, calibration.batches, fields->quantise);
    }
    if (fields->dtype == "bf16") flow::to_bf16(source.graph, fields->quantise.keep);
    std::map<std::string, std::string> metadata = {{"hewn.source", "onnx"}};
    if (fields->block > 0) metadata["hewn.block"] = std::to_string(fields->block);
    flow::write_flow_model(fields->to, source.graph, metadata);
    print_network(source.graph, fields->block, fields->to, fields->json);
    return 0;
  };
  return command;
}

}  // namespace hewn::cli
