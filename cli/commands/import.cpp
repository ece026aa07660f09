#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/networks.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/flow/model_file.h"

namespace hewn::cli {
namespace {

struct ImportFields {
  std::string model;
  std::string to;
  int64_t block = 0;
  bool json = false;
};

}  // namespace

Command import_command() {
  const auto fields = std::make_shared<ImportFields>();
  Command command;
  command.name = "import";
  command.help = "make a model.hewn of an ONNX file";
  command.example = "hewn import model.onnx --to model.hewn";
  command.positionals = {{"MODEL", "ONNX file", &fields->model}};
  command.options.add("to", fields->to, "file to write: model.hewn");
  command.options.add("block", fields->block,
                      "look for blocks of zeros of this size only; 0: of 4, 8, 16 and 32");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) {
    if (!given.contains("to")) throw Error("to: expected the file to write, model.hewn");
    if (!fields->to.ends_with(".hewn"))
      throw Error(str("to: expected a name that ends in .hewn, got ", fields->to));
    if (fields->block < 0 || fields->block > 1024)
      throw Error(str("block: expected 0 to 1024, got ", fields->block));
    const NetworkSource source = open_network(fields->model);
    std::map<std::string, std::string> metadata = {{"hewn.source", "onnx"}};
    if (fields->block > 0) metadata["hewn.block"] = std::to_string(fields->block);
    flow::write_flow_model(fields->to, source.graph, metadata);
    print_network(source.graph, fields->block, fields->to, fields->json);
    return 0;
  };
  return command;
}

}  // namespace hewn::cli
