#include "hewn/refit/prune.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>

#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/core/suffix.h"
#include "hewn/flow/model_file.h"
#if HEWN_ONNX
#include "hewn/onnx/edit.h"
#include "hewn/onnx/import.h"
#endif

namespace hewn::cli {
namespace {

struct PruneFields {
  std::string model;
  std::string to;
  std::string method = "omp";
  CalibrationFields calibration;
  int64_t seed = 1;
  int64_t threads = 1;
  std::string inputs = "pruned";
  refit::Options options;
  bool json = false;
};

flow::Graph read_graph(const std::string& path) {
#if HEWN_ONNX
  return onnx::read_onnx(path);
#else
  throw Error(str(path, ": this build of hewn has no ONNX; install libonnx-dev and build it again"));
#endif
}

void write_pruned(const PruneFields& fields, const std::string& suffix, const flow::Graph& graph,
                  const refit::Result& result) {
  if (suffix == ".hewn") {
    const std::string kept = str(fields.method, ", ", fields.options.sparsity, " of the blocks of ",
                                 short_text(fields.options.block), " dropped");
    flow::write_flow_model(fields.to, graph, {{"hewn.pruned", kept}});
    return;
  }
#if HEWN_ONNX
  std::map<std::string, flow::Tensor> changed;
  for (const int32_t value : result.changed) changed.emplace(graph.name(value), graph.constants.at(value));
  write_file_atomically(fields.to, onnx::replace_constants(fields.model, changed));
#else
  static_cast<void>(result);
#endif
}

Json result_json(const PruneFields& fields, const flow::Graph& graph, const refit::Result& result,
                 double seconds) {
  Json layers = Json::array();
  for (const refit::LayerResult& layer : result.layers) {
    Json row = {{"name", layer.name},
                {"rows", layer.kept.grid().rows},
                {"cols", layer.kept.grid().cols},
                {"blocks", layer.kept.grid().blocks()},
                {"kept", layer.kept.kept()},
                {"zero_before", layer.zero_before}};
    if (!layer.why_dense.empty()) row["dense"] = layer.why_dense;
    if (layer.error) row["error"] = *layer.error;
    layers.push_back(std::move(row));
  }
  Json outputs = Json::object();
  for (size_t i = 0; i < result.output_errors.size(); ++i) {
    outputs[graph.name(graph.outputs[i].value)] = result.output_errors[i].share;
  }
  return {{"method", fields.method},
          {"block", short_text(fields.options.block)},
          {"sparsity", fields.options.sparsity},
          {"layers", layers},
          {"output_errors", outputs},
          {"seconds", seconds}};
}

void print_result(const PruneFields& fields, const flow::Graph& graph, const refit::Result& result,
                  double seconds) {
  std::vector<std::vector<std::string>> rows = {{"layer", "weight", "kept", "blocks", "error", ""}};
  int64_t kept = 0;
  int64_t blocks = 0;
  int64_t pruned = 0;
  for (const refit::LayerResult& layer : result.layers) {
    const Grid& grid = layer.kept.grid();
    const bool dense = !layer.why_dense.empty();
    std::string remark = dense ? "dense: " + layer.why_dense : "";
    if (layer.zero_before > 0) remark = str(layer.zero_before, " were zero before");
    rows.push_back({plain_text(layer.name), str(grid.rows, "x", grid.cols),
                    dense ? "" : std::to_string(layer.kept.kept()), std::to_string(grid.blocks()),
                    layer.error ? percent(*layer.error) : "", remark});
    if (dense) continue;
    ++pruned;
    kept += layer.kept.kept();
    blocks += grid.blocks();
  }
  print_table(std::cout, rows, {false, false, true, true, true, false});
  std::cout << '\n'
            << pruned << " of " << result.layers.size() << " layers pruned, " << kept << " of " << blocks
            << " blocks kept, " << fixed(seconds, 1) << " s\n";
  for (size_t i = 0; i < result.output_errors.size(); ++i) {
    const auto& [error, counted] = result.output_errors[i];
    std::cout << "output " << plain_text(graph.name(graph.outputs[i].value)) << ": "
              << (counted ? percent(error) + " of its numbers are others"
                          : "error " + percent(error) + " of its norm")
              << " on the calibration inputs\n";
  }
  std::cout << fields.to << '\n';
}

void show_progress(int done, int all) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\r  " << done << "/" << all << " " << (done == all ? "\r\033[K" : "") << std::flush;
}

int run_prune(PruneFields fields) {
  source_kind("prune", fields.model, {io::SourceKind::kOnnx});
  if (fields.to.empty()) throw Error("to: expected the file to write, .onnx or .hewn");
  const std::string suffix = known_suffix("to", fields.to, {".onnx", ".hewn"});
  refit::Options& options = fields.options;
  options.method = refit::parse_method(fields.method);
  options.follow = fields.inputs == "pruned";
  options.seed = static_cast<uint64_t>(fields.seed);
  options.threads = static_cast<int>(fields.threads);
  options.progress = show_progress;
  if (fields.calibration.from.empty() && options.method != refit::Method::kMagnitude) {
    throw Error(str("calibration: method ", fields.method,
                    " needs inputs, as in --calibration inputs.npy; only --method magnitude does without"));
  }
  const auto start = std::chrono::steady_clock::now();
  flow::Graph graph = read_graph(fields.model);
  Calibration calibration;
  if (!fields.calibration.from.empty())
    calibration = read_calibration(graph, image_rule_in(fields.model), fields.calibration);
  const refit::Result result = refit::prune_graph(graph, options, calibration.batches);
  write_pruned(fields, suffix, graph, result);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (fields.json) {
    Json json = result_json(fields, graph, result, seconds);
    if (!calibration.images.empty()) json["calibration"] = calibration.images;
    std::cout << json.dump(2) << '\n';
  } else {
    if (!calibration.images.empty()) std::cout << "calibration: " << calibration.images << "\n\n";
    print_result(fields, graph, result, seconds);
  }
  return 0;
}

}  // namespace

Command prune_command() {
  const auto fields = std::make_shared<PruneFields>();
  refit::Options& o = fields->options;
  Command command;
  command.name = "prune";
  command.help = "prune an ONNX network without training it, layer by layer on calibration inputs";
  command.example =
      "hewn prune model.onnx --block 16 --sparsity 0.5 --calibration inputs.npy --to pruned.onnx\n"
      "  hewn prune model.onnx --sparsity 0.8 --calibration photos --to pruned.hewn\n"
      "  hewn prune model.onnx --method magnitude --to pruned.hewn";
  command.positionals.push_back({"MODEL", "an ONNX file", &fields->model});
  command.options.add("to", fields->to, "file to write: .onnx (the same with other weights) or .hewn");
  command.options.add("block", o.block, "block size, B or RxC");
  command.options.add("sparsity", o.sparsity, "fraction of each layer's blocks to drop, in [0, 1)").share();
  command.options
      .add("method", fields->method,
           "magnitude: the smallest blocks become zero; refit: the same, and the others are fitted to the "
           "layer's "
           "outputs; omp: blocks are chosen by what their absence costs, and fitted")
      .one_of({"magnitude", "refit", "omp"});
  add_calibration_options(command.options, fields->calibration, "inputs to fit on");
  command.options.add("rows", o.rows, "rows of a layer's inputs to look at; an image has one for each pixel")
      .at_least(1);
  command.options
      .add("inputs", fields->inputs, "layers are fitted on inputs of the pruned network or the dense one")
      .one_of({"pruned", "dense"});
  command.options.add("ridge", o.ridge,
                      "pull to the weights of before, over the mean square of a layer's inputs");
  command.options.add("min-blocks", o.min_blocks, "layers with fewer blocks stay dense");
  command.options.add("prune-layers", o.layers, "patterns of layer names to prune, with commas between");
  command.options.add("except", o.except, "patterns of layer names to leave dense, with commas between");
  command.options.add("seed", fields->seed, "of the rows that are looked at").at_least(0);
  command.options.add("threads", fields->threads, "threads to run on").at_least(1);
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given&) { return run_prune(*fields); };
  return command;
}

}  // namespace hewn::cli
