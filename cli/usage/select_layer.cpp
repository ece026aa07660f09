#include "cli/usage/select_layer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/source.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

/// Options of a table that mean the same for a layer.
constexpr std::array<std::string_view, 8> kShared = {"method", "k",         "block",   "ridge",
                                                     "score",  "intercept", "threads", "json"};

}  // namespace

void describe(LayerFields& fields, OptionTable& table) {
  deploy::SelectLayerOptions& o = fields.options;
  table.add("from-run", fields.run, "old spelling of a SOURCE that is a run folder");
  table.add("layer", o.layer,
            "with a run: name of the layer whose blocks are chosen; methods omp, ompr and magnitude");
  table.add("sparsity", o.sparsity, "with a run: fraction of blocks to drop, instead of --k; auto: the run's")
      .share();
  table.add("samples", o.samples, "with a run: training samples whose activations are reproduced")
      .at_least(1);
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

void settle_layer(const convex::SelectOptions& shared, const Given& given, LayerFields& layer) {
  const std::vector<std::string> own = layer_keys();
  for (const auto& [key, text] : given) {
    if (std::find(own.begin(), own.end(), key) != own.end()) continue;
    if (std::find(kShared.begin(), kShared.end(), key) != kShared.end()) continue;
    throw Error(str(key, ": applies to tables, not to a layer of a run"));
  }
  if (layer.options.layer.empty()) throw Error("layer: expected --layer NAME; hewn inspect RUN lists them");
  deploy::SelectLayerOptions& out = layer.options;
  out.method = shared.method;
  out.k = shared.k;
  out.block = shared.block;
  out.ridge = shared.ridge;
  if (given.contains("score")) out.score = shared.score;
  out.intercept = shared.intercept;
  out.threads = given.contains("threads") ? shared.threads : 0;
}

}  // namespace hewn::cli
