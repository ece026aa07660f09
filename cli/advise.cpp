#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/data/source.h"
#include "hewn/train/advise.h"
#include "hewn/train/setup.h"

namespace hewn::cli {
namespace {

struct AdviseFields {
  train::TrainOptions options;
  std::string data;
  int64_t batch = train::AdviceOptions().batch;
  bool quick = false;
  bool json = false;
};

void print_advice(const train::Advice& advice) {
  std::vector<std::vector<std::string>> rows = {{"layer", "", "dense ms", "fastest dense"}};
  for (const train::LayerTime& layer : advice.layers) {
    const size_t more = layer.names.size() - 1;
    rows.push_back({layer.names.front() + (more > 0 ? str(" and ", more, " more") : ""), layer.shape,
                    fixed(layer.dense_ms, 3), layer.dense_baseline});
  }
  rows.push_back({"all", "", fixed(advice.dense_ms, 3), ""});
  print_table(std::cout, rows, {false, false, true, false});

  std::cout << "\nmilliseconds (speed-up) of these layers, batch " << advice.batch << ", " << advice.threads
            << (advice.threads == 1 ? " thread\n" : " threads\n");
  rows = {{"block"}};
  const size_t columns = advice.settings.size() / advice.blocks.size();
  for (size_t i = 0; i < columns; ++i) rows[0].push_back(percent(advice.settings[i].sparsity));
  rows[0].insert(rows[0].end(), {"break-even", "layers left dense"});
  for (size_t b = 0; b < advice.blocks.size(); ++b) {
    const train::BlockAdvice& row = advice.blocks[b];
    std::vector<std::string> cells = {to_string(row.block)};
    for (size_t i = 0; i < columns; ++i) {
      const train::Setting& s = advice.settings[b * columns + i];
      cells.push_back(fixed(s.sparse_ms, 2) + " (" + fixed(s.speedup, 2) + "x)");
    }
    cells.push_back(row.break_even ? percent(*row.break_even) : "never");
    const size_t skipped = row.layers_skipped.size();
    cells.push_back(str(skipped, " of ", skipped + static_cast<size_t>(row.layers_pruned)));
    rows.push_back(std::move(cells));
  }
  print_table(std::cout, rows, std::vector<bool>(rows[0].size(), true));
  std::cout << '\n' << advice.sentence << '\n';
}

int run_advise(AdviseFields& fields, Given given) {
  for (const char* key : {"data", "batch", "quick", "json"}) given.erase(key);
  given["model"] = fields.options.model;
  given.try_emplace("threads", "1");
  fields.options = train::options_from(given);
  nn::Signature signature = nn::find_model(fields.options.model).usual;
  if (!fields.data.empty()) {
    std::string path;
    const data::DataInfo& info = data::find_source(fields.data, &path).info;
    signature = train::signature_of(info);
  }
  train::set_threads(fields.options.threads);
  train::AdviceOptions options = fields.quick ? train::AdviceOptions::quick() : train::AdviceOptions();
  options.batch = fields.batch;
  options.min_blocks = fields.options.prune.min_blocks;
  const auto model = train::build_model(fields.options, signature);
  const train::Advice advice = train::advise(*model, signature.input, options);
  if (fields.json) {
    std::cout << train::to_json(advice).dump() << '\n';
  } else {
    print_advice(advice);
  }
  return 0;
}

}  // namespace

Command advise_command() {
  const auto fields = std::make_shared<AdviseFields>();
  train::TrainOptions& o = fields->options;
  o.threads = 1;
  Command command;
  command.name = "advise";
  command.help = "measure which block size and sparsity pay for a model on this machine";
  command.example = "hewn advise mlp --data fashion-mnist --batch 256";
  command.positionals = {{"MODEL", "network (see hewn methods)", &o.model}};
  command.options.add("data", fields->data,
                      "data set whose inputs the model takes; default: the model's usual one");
  command.options.add("batch", fields->batch, "samples at once");
  command.options.add("threads", o.threads, "CPU threads; 0: all cores");
  command.options.add("min-blocks", o.prune.min_blocks, "layers with fewer blocks stay dense");
  command.options.add("widths", o.widths, "hidden widths of mlp and ctr-dnn, with commas between");
  command.options.add("width", o.width, "channels in the first stage of a resnet");
  command.options.add("quick", fields->quick, "fewer points, one round each");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run_advise(*fields, given); };
  return command;
}

}  // namespace hewn::cli
