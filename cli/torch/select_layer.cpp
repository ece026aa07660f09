#include "cli/usage/select_layer.h"

#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/deploy/select/select_layer.h"
#include "hewn/run/observer.h"

namespace hewn::cli {
namespace {

// Rows of the printed table; --json has all.
constexpr size_t kShown = 20;

Json to_json(const LayerFields& fields, const deploy::SelectLayerOptions& options,
             const deploy::LayerSelection& found) {
  return {{"run", fields.run},
          {"layer", options.layer},
          {"method", options.method},
          {"score", options.score},
          {"refit", options.refit},
          {"inputs", found.grid.rows},
          {"outputs", found.grid.cols},
          {"block", {found.grid.block.rows, found.grid.block.cols}},
          {"blocks", found.grid.blocks()},
          {"kept", found.choice.blocks.size()},
          {"samples", found.samples},
          {"rows", found.rows},
          {"ridge", found.ridge},
          {"selected", found.choice.blocks},
          {"losses", found.choice.losses},
          {"null_loss", found.choice.null_loss},
          {"swaps", found.choice.swaps},
          {"before", found.before},
          {"after", found.after},
          {"gather_seconds", found.gather_seconds},
          {"choose_seconds", found.choose_seconds},
          {"out", options.out}};
}

void print_select_layer(const deploy::SelectLayerOptions& options, const deploy::LayerSelection& found) {
  const Grid& grid = found.grid;
  const convex::LayerChoice& choice = found.choice;
  std::cout << options.layer << ": " << grid.rows << " x " << grid.cols << ", " << choice.blocks.size()
            << " of " << grid.blocks() << " blocks of " << to_string(grid.block) << " kept; " << found.rows
            << " inputs from " << found.samples << " training samples\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"step", "block", "inputs from", "outputs from", "loss", "of all"}};
  const auto share = [&](double loss) {
    return choice.null_loss > 0 ? percent(loss / choice.null_loss) : "-";
  };
  rows.push_back({"0", "", "", "", short_number(choice.null_loss), share(choice.null_loss)});
  for (size_t i = 0; i < choice.blocks.size(); ++i) {
    // The first ones, and the last.
    if (i >= kShown && i + 1 < choice.blocks.size()) continue;
    const int64_t block = choice.blocks[i];
    rows.push_back({str(i + 1), str(block), str(block / grid.col_blocks() * grid.block.rows),
                    str(block % grid.col_blocks() * grid.block.cols), short_number(choice.losses[i]),
                    share(choice.losses[i])});
  }
  print_table(std::cout, rows, {true, true, true, true, true, true});
  std::cout << '\n';
  if (options.method == "ompr") std::cout << choice.swaps << (choice.swaps == 1 ? " swap" : " swaps") << '\n';
  for (const auto& [name, value] : found.after) {
    std::cout << run::name_of(found.part) << " " << name << ": " << metric_text(name, value) << ", before "
              << metric_text(name, found.before.at(name)) << '\n';
  }
  std::cout << fixed(found.gather_seconds, 2) << " s for the inputs, " << fixed(found.choose_seconds, 2)
            << " s to choose\n";
  if (!options.out.empty()) std::cout << "written to " << options.out << '\n';
}

}  // namespace

int run_select_layer(LayerFields& fields, const Given& given) {
  const deploy::SelectLayerOptions& options = fields.options;
  const deploy::LayerSelection found = deploy::select_layer({fields.run}, options, fields.progress);
  if (given.contains("json")) {
    std::cout << to_json(fields, options, found).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_select_layer(options, found);
  }
  return 0;
}

}  // namespace hewn::cli
