#include "cli/commands/select_layer.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>
#include <string_view>

#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

// Rows of the printed table; --json has all.
constexpr size_t kShown = 20;

/// Options of a table that mean the same for a layer.
constexpr std::array<std::string_view, 8> kShared = {"method", "k",         "block",   "ridge",
                                                     "score",  "intercept", "threads", "json"};

deploy::SelectLayerOptions options_of(const LayerFields& fields, const convex::SelectOptions& shared,
                                      const Given& given) {
  const std::vector<std::string> own = layer_keys();
  for (const auto& [key, text] : given) {
    if (std::find(own.begin(), own.end(), key) != own.end()) continue;
    if (std::find(kShared.begin(), kShared.end(), key) != kShared.end()) continue;
    throw Error(str(key, ": applies to tables, not to a layer of a run"));
  }
  if (fields.options.layer.empty()) throw Error("layer: expected --layer NAME; hewn inspect RUN lists them");
  deploy::SelectLayerOptions out = fields.options;
  out.method = shared.method;
  out.k = shared.k;
  out.block = shared.block;
  out.ridge = shared.ridge;
  if (given.contains("score")) out.score = shared.score;
  out.intercept = shared.intercept;
  out.threads = given.contains("threads") ? shared.threads : 0;
  return out;
}

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
    std::cout << "test " << name << ": " << metric_text(name, value) << ", before "
              << metric_text(name, found.before.at(name)) << '\n';
  }
  std::cout << fixed(found.gather_seconds, 2) << " s for the inputs, " << fixed(found.choose_seconds, 2)
            << " s to choose\n";
  if (!options.out.empty()) std::cout << "written to " << options.out << '\n';
}

}  // namespace

void describe(LayerFields& fields, OptionTable& table) {
  deploy::SelectLayerOptions& o = fields.options;
  table.add("from-run", fields.run, "old spelling of a SOURCE that is a run folder");
  table.add("layer", o.layer,
            "with a run: name of the layer whose blocks are chosen; methods omp, ompr and magnitude");
  table.add("sparsity", o.sparsity,
            "with a run: fraction of blocks to drop, instead of --k; auto: the run's");
  table.add("samples", o.samples, "with a run: training samples whose activations are reproduced");
  table.add("refit", o.refit, "with a run: fit the kept blocks anew; without, they keep their weights");
  table.add("device", o.device, "with a run: cpu, cuda or cuda:N");
  table.add("out", o.out,
            "with a run: folder for the pruned network; with a table: .csv or .npy for coefficients, .json "
            "for all");
}

std::vector<std::string> layer_keys() {
  LayerFields fields;
  OptionTable table;
  describe(fields, table);
  return table.keys();
}

void settle_source(const std::string& source, LayerFields& layer) {
  using io::SourceKind;
  if (!layer.run.empty()) {
    if (!source.empty()) throw Error(str("from-run: takes its data from the run, got ", source, " too"));
    source_kind("select --from-run", layer.run, {SourceKind::kRun});
    return;
  }
  if (source.empty()) throw Error("SOURCE is required; see hewn select --help");
  // Two arrays with a comma between are no path.
  if (io::kind_of(source) == SourceKind::kMissing && source.find(',') != std::string::npos) return;
  // What no mark tells is text, plain or packed.
  if (source_kind("select", source,
                  {SourceKind::kRun, SourceKind::kNpy, SourceKind::kNpz, SourceKind::kUnknown},
                  "a table (.csv, .npy or .npz) or a run folder") == SourceKind::kRun) {
    layer.run = source;
  }
}

int select_layer(const LayerFields& fields, const convex::SelectOptions& shared, const Given& given,
                 const std::function<void(int, int)>& progress) {
  const deploy::SelectLayerOptions options = options_of(fields, shared, given);
  const deploy::LayerSelection found = deploy::select_layer({fields.run}, options, progress);
  if (given.contains("json")) {
    std::cout << to_json(fields, options, found).dump() << '\n';
  } else {
    print_select_layer(options, found);
  }
  return 0;
}

}  // namespace hewn::cli
