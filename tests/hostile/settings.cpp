// The part of the corpus that says what to do: config files, sweeps, costs.
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/run/costs.h"
#include "hewn/run/options.h"
#include "hewn/sweep/expand.h"
#include "hewn/sweep/sections.h"
#include "hewn/sweep/spec.h"
#include "tests/hostile/corpus.h"

namespace hewn::test {
namespace {

sweep::TrainRules sweep_rules() {
  run::Options options;
  const OptionTable table = run::describe(options);
  return {table.keys(), [](const sweep::Options& given) { run::check_options(run::options_from(given)); },
          run::only_prunes, run::may_change_on_resume};
}

}  // namespace

void Corpus::add_settings() {
  write_text(folder_ / "config.toml",
             "# a run\ndata = \"mnist:x # y\"\nwidths = [64, 32]\nlr = 0.05\n[train]\nepochs = 2\n"
             "compare-dense = true\nmethod = 'sa++r'\n");
  add("config file", folder_ / "config.toml", [file = path("config.toml")] {
    sweep::Options options;
    for (const auto& section : sweep::read_sections(read_file(file), file, sweep::Top::kEntries)) {
      for (const auto& entry : section.entries) options[entry.key] = entry.value.text();
    }
    run::check_options(run::options_from(options));
  });
  write_text(
      folder_ / "sweep.toml",
      "[train]\nepochs = 3\nwidths = [64, 32]\n[axes]\nmethod = [\"dense\", \"acdc\"]\nblock = [\n  5, 10,\n]"
      "\nseed = [0, 1]\n[variant.wide]\nmethod = \"sa++\"\n[size.small.train]\nepochs = 1\n");
  add("sweep file", folder_ / "sweep.toml", [file = path("sweep.toml")] {
    const sweep::TrainRules rules = sweep_rules();
    sweep::expand(sweep::read_spec(sweep::sweep_file(read_file(file), file), {}, rules), rules);
  });
  run::Costs costs{"mlp", "fashion-mnist", {1, 28, 28}, {16, 16}, 256, 1, "here", {}};
  prune::LayerTimes layer;
  layer.name = "fc1";
  layer.blocks = 100;
  layer.positions = 1;
  layer.dense_ms = 1;
  layer.fixed_ms = 0.1;
  layer.block_ms = 0.01;
  costs.layers.push_back(layer);
  write_text(folder_ / "costs.json", to_json(costs).dump());
  add("costs", folder_ / "costs.json",
      [file = path("costs.json")] { run::parse_costs(read_file(file), file); });
}

}  // namespace hewn::test
