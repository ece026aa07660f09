#include "cli/usage/advise.h"

#include <algorithm>
#include <iostream>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/training.h"
#include "hewn/core/error.h"
#include "hewn/core/json_file.h"
#include "hewn/deploy/advise.h"
#include "hewn/deploy/layer_costs.h"
#include "hewn/run/options.h"
#include "hewn/tensor/device.h"
#include "hewn/train/network.h"

namespace hewn::cli {
namespace {

void print_advice(const deploy::Advice& advice) {
  std::vector<std::vector<std::string>> rows = {{"layer", "", "dense ms", "fastest dense"}};
  for (const deploy::LayerTime& layer : advice.layers) {
    const size_t more = layer.names.size() - 1;
    rows.push_back({layer.names.front() + (more > 0 ? str(" and ", more, " more") : ""), layer.shape,
                    fixed(layer.dense_ms, 3), layer.dense_baseline});
  }
  rows.push_back({"all", "", fixed(advice.dense_ms, 3), ""});
  print_table(std::cout, rows, {false, false, true, false});

  std::cout << "\nmilliseconds (speed-up) of these layers, batch " << advice.batch << ", " << advice.threads
            << (advice.threads == 1 ? " thread\n" : " threads\n");
  rows = {{"block"}};
  const size_t columns = advice.trials.size() / advice.blocks.size();
  for (size_t i = 0; i < columns; ++i) rows[0].push_back(percent(advice.trials[i].sparsity));
  rows[0].insert(rows[0].end(), {"break-even", "layers left dense"});
  for (size_t b = 0; b < advice.blocks.size(); ++b) {
    const deploy::BlockAdvice& row = advice.blocks[b];
    std::vector<std::string> cells = {to_string(row.block)};
    for (size_t i = 0; i < columns; ++i) {
      const deploy::Trial& s = advice.trials[b * columns + i];
      cells.push_back(fixed(s.sparse_ms, 2) +
                      (advice.withheld.empty() ? " (" + fixed(s.speedup, 2) + "x)" : ""));
    }
    cells.push_back(row.break_even ? percent(*row.break_even) : "never");
    const size_t skipped = row.layers_skipped.size();
    cells.push_back(str(skipped, " of ", skipped + static_cast<size_t>(row.layers_pruned)));
    rows.push_back(std::move(cells));
  }
  print_table(std::cout, rows, std::vector<bool>(rows[0].size(), true));
  std::cout << '\n' << advice.sentence << '\n';
}

void print_costs(const run::Costs& costs) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "blocks", "dense ms", "fixed ms", "us a block", "even at density"}};
  for (const prune::LayerTimes& layer : costs.layers) {
    const double even =
        (layer.dense_ms - layer.fixed_ms) / (layer.block_ms * static_cast<double>(layer.blocks));
    rows.push_back({layer.name, str(layer.blocks), fixed(layer.dense_ms, 3), fixed(layer.fixed_ms, 3),
                    fixed(1000 * layer.block_ms, 3), even <= 0 ? "never" : percent(std::min(even, 1.0))});
  }
  print_table(std::cout, rows, {false, true, true, true, true, true});
}

/// Times the layers at one block size and writes that down.
int write_costs(const AdviseFields& fields, const run::Options& chosen, nn::Model& model,
                const nn::Signature& signature, deploy::AdviceOptions options) {
  deploy::MeasuredCosts measured;
  {
    Terminal terminal(/*quiet=*/false);
    options.progress = [&](int64_t done, int64_t all) { terminal.on_work("measuring", done, all); };
    terminal.on_work("measuring", 0, 1);
    measured = deploy::measure_costs(model, signature.input, chosen.prune.block, options);
  }
  if (!measured.withheld.empty()) throw Error(str("costs: not written: ", measured.withheld));
  measured.costs.model = chosen.model;
  measured.costs.data = fields.options.data;
  write_json(fields.costs, run::to_json(measured.costs));
  if (fields.json) {
    std::cout << run::to_json(measured.costs).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  print_costs(measured.costs);
  std::cout << "\n"
            << fields.costs << ": costs at batch " << options.batch << ", block "
            << to_string(chosen.prune.block) << "; use them with hewn train --budget ms=... --block "
            << short_text(chosen.prune.block) << " --costs " << shell_word(fields.costs) << '\n';
  return 0;
}

}  // namespace

int run_advise(AdviseFields& fields, const Given& given) {
  Given training = training_part(given);
  if (fields.options.data.empty()) training.erase("data");
  training["model"] = fields.options.model;
  training["threads"] = str(fields.options.threads);
  training["batch"] = str(fields.options.batch);
  const run::Options chosen = run::options_from(training);
  const nn::Signature signature = train::signature_for(chosen.model, fields.options.data);
  tensor::set_threads(chosen.threads);
  deploy::AdviceOptions options = fields.quick ? deploy::AdviceOptions::quick() : deploy::AdviceOptions();
  options.batch = chosen.batch;
  options.min_blocks = chosen.prune.min_blocks;
  const auto model = train::build_model(chosen, signature);
  if (!fields.costs.empty()) return write_costs(fields, chosen, *model, signature, options);
  deploy::Advice advice;
  {
    Terminal terminal(/*quiet=*/false);
    options.progress = [&](int64_t done, int64_t all) { terminal.on_work("measuring", done, all); };
    terminal.on_work("measuring", 0, 1);
    advice = deploy::advise(*model, signature.input, options);
  }
  if (fields.json) {
    std::cout << deploy::to_json(advice).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_advice(advice);
  }
  return 0;
}

}  // namespace hewn::cli
