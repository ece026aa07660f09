#include <memory>

#include "cli/command.h"
#include "cli/report_table.h"
#include "hewn/nn/slots.h"
#include "hewn/train/setup.h"

namespace hewn::cli {
namespace {

struct PlanFields {
  train::TrainOptions options;
  std::string data;
  bool json = false;
};

int run_plan(const PlanFields& fields, Given given) {
  given.erase("json");
  if (fields.data.empty()) given.erase("data");
  const train::TrainOptions options = train::options_from(given);
  const auto model = train::build_model(options, train::signature_for(options.model, fields.data));
  const prune::Plan plan =
      prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), plan_options(options.prune));
  print_report(train::planned_report(*model, plan), fields.json);
  return 0;
}

}  // namespace

Command plan_command() {
  const auto fields = std::make_shared<PlanFields>();
  train::TrainOptions& o = fields->options;
  Command command;
  command.name = "plan";
  command.help = "show what would be pruned, before any training";
  command.example = "hewn plan --model resnet50 --block 32 --sparsity 0.9";
  command.options.add("model", o.model, "network (see hewn methods)");
  command.options.add("data", fields->data,
                      "data set whose inputs the model takes; default: the model's usual one");
  command.options.add("block", o.prune.block, "block size, B or RxC");
  command.options.add("sparsity", o.prune.sparsity, "fraction of blocks to drop, in [0, 1)");
  command.options.add("min-blocks", o.prune.min_blocks, "layers with fewer blocks stay dense");
  command.options.add("prune-layers", o.prune.layers,
                      "patterns of layer names to prune, with commas between");
  command.options.add("widths", o.widths, "hidden widths of mlp and ctr-dnn, with commas between");
  command.options.add("width", o.width, "channels in the first stage of a resnet");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_plan(*fields, given); };
  return command;
}

}  // namespace hewn::cli
