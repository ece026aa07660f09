#include "hewn/deploy/select/select_layer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/core/text.h"
#include "hewn/deploy/finished_run.h"
#include "hewn/deploy/select/input_gram.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"
#include "hewn/run/summary.h"
#include "hewn/save.h"
#include "hewn/tensor/device.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/evaluate.h"
#include "hewn/train/model_report.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"

namespace hewn::deploy {
namespace {

/// A finished run's network and data, ready for changes.
struct LoadedRun : FinishedRun {
  std::unique_ptr<data::Source> source;
  std::vector<prune::WeightSlot> slots;

  LoadedRun(const run::Folder& from, const SelectLayerOptions& given) : FinishedRun(open(from)) {
    const at::Device device = tensor::find_device(given.device);
    tensor::set_threads(given.threads);
    run::Observer silent;
    config.options.augment = false;  // inputs as they are used
    source = train::open_data(config.options, device, {}, silent);
    train::move_to(*model, device, /*cudnn_benchmark=*/false);
    slots = nn::find_slots(*model);
  }

  const prune::WeightSlot& slot(const std::string& layer) const {
    std::vector<std::string> names;
    for (const prune::WeightSlot& slot : slots) {
      if (slot.name == layer) return slot;
      names.push_back(slot.name);
    }
    throw Error(hewn::str("layer: the model has no layer \"", layer, "\"", did_you_mean(layer, names),
                          "; it has ", join(names)));
  }
};

/// One shape of blocks holds for all pruned layers of a model.
BlockShape block_for(const LoadedRun& loaded, const SelectLayerOptions& given) {
  const BlockShape own = loaded.config.options.prune.block;
  if (given.block.empty()) return own;
  const BlockShape block = parse_block(given.block);
  for (const auto& [name, blocks] : loaded.blocks) {
    if (name != given.layer && block != own) {
      throw Error(hewn::str("block: layer ", name, " of this run is pruned in blocks of ", to_string(own),
                            ", and a model has one shape of blocks; got ", to_string(block)));
    }
  }
  return block;
}

int64_t blocks_for(const LoadedRun& loaded, const SelectLayerOptions& given, const Grid& grid) {
  if (given.k < 0) throw Error(hewn::str("k: expected at least 1, got ", given.k));
  if (given.k > 0 && given.sparsity) throw Error("k and sparsity: give one of them");
  if (given.k > 0) return given.k;
  const double sparsity = given.sparsity.value_or(loaded.config.options.prune.sparsity);
  if (!(sparsity >= 0 && sparsity < 1)) {
    throw Error(hewn::str("sparsity: expected a number in [0, 1), got ", sparsity));
  }
  return blocks_to_keep(grid.blocks(), sparsity);
}

/// Runs training samples through the network. Returns how many.
int64_t run_samples(LoadedRun& loaded, int64_t wanted) {
  if (wanted < 1) throw Error(hewn::str("samples: expected at least 1, got ", wanted));
  const at::NoGradGuard no_grad;
  loaded.model->eval();
  int64_t done = 0;
  for (int64_t i = 0; i < loaded.source->train_batches() && done < wanted; ++i) {
    const at::Tensor input = loaded.source->train_batch(0, i).input;
    const int64_t count = std::min(input.size(0), wanted - done);
    loaded.model->forward(input.narrow(0, 0, count));
    done += count;
  }
  return done;
}

convex::Matrix to_matrix(const at::Tensor& weight, const WeightLayout& layout) {
  const at::Tensor values = weight.detach().to(at::kCPU).to(at::kDouble).contiguous();
  const auto* data = values.data_ptr<double>();
  convex::Matrix out(layout.grid.rows, layout.grid.cols);
  for (int64_t column = 0; column < layout.grid.cols; ++column) {
    for (int64_t m = 0; m < layout.grid.rows; ++m) {
      out(layout.row_of(m), column) = data[column * layout.grid.rows + m];
    }
  }
  return out;
}

at::Tensor to_tensor(const convex::Matrix& matrix, const WeightLayout& layout, at::IntArrayRef shape) {
  at::Tensor out = at::empty(shape, at::kDouble);
  auto* data = out.data_ptr<double>();
  for (int64_t column = 0; column < layout.grid.cols; ++column) {
    for (int64_t m = 0; m < layout.grid.rows; ++m) {
      data[column * layout.grid.rows + m] = matrix(layout.row_of(m), column);
    }
  }
  return out;
}

/// Puts the new weight, and the bias that makes up for the mean of what was dropped, into the file's tensors
/// and the network.
void replace_layer(LoadedRun& loaded, const std::string& layer, const at::Tensor& weight,
                   const at::Tensor& bias_change, const LayerBlocks& blocks) {
  loaded.file.tensors[layer + ".weight"].copy_(weight);
  if (bias_change.defined()) loaded.file.tensors[layer + ".bias"] += bias_change;
  loaded.blocks[layer] = blocks;
  tensor::copy_into(tensor::state_dict(*loaded.model), loaded.file, "", loaded.folder.model().string());
}

/// A run folder like that of a training that ended with this network.
void write_run(LoadedRun& loaded, const SelectLayerOptions& given, BlockShape block,
               const run::Metrics& metrics) {
  const run::Folder to{given.out};
  PrunerOptions& pruning = loaded.config.options.prune;
  pruning.block = block;
  // What is kept now was chosen by no limit.
  const bool limited = prune::parse_budget(pruning.budget).limited();
  if (limited) pruning.budget = "uniform";
  const prune::Plan plan = loaded.plan();
  const train::ModelReport report =
      train::measured_report(*loaded.model, plan, loaded.file.tensors, loaded.blocks);
  Json config = read_json(loaded.folder.config());
  config["options"]["block"] = short_text(block);
  if (limited) config["options"]["budget"] = pruning.budget;
  if (limited) config["options"]["costs"] = "";
  config["selected_from"] = {
      {"run", loaded.folder.path.string()}, {"layer", given.layer}, {"method", given.method}};
  run::Summary summary = run::read_summary(loaded.folder.summary());
  summary.method += "+" + given.method;
  summary.block = to_string(block);
  summary.metrics = metrics;
  summary.realised_sparsity = report.realised_sparsity();
  summary.layers_pruned = report.layers_pruned();
  summary.kept_blocks = report.blocks_kept();
  summary.blocks = report.blocks();
  summary.bytes_sparse = report.bytes_sparse();
  summary.products_dense = report.products_dense();
  summary.products_sparse = report.products_sparse();
  summary.expected_ms_dense.reset();
  summary.expected_ms_sparse.reset();
  loaded.file.metadata["hewn.method"] = summary.method;
  loaded.file.metadata["hewn.blocks"] = to_text(loaded.blocks);
  write_json(to.config(), config);
  tensor::save_tensors(to.model(), loaded.file, /*sealed=*/false);
  if (is_there(loaded.folder.inputs())) write_file_atomically(to.inputs(), read_file(loaded.folder.inputs()));
  run::write_summary(to.summary(), summary);
}

/// Fails before the work is done rather than after it.
void prepare_folder(const std::string& out) {
  if (out.empty()) return;
  if (run::Folder{out}.started()) throw Error(hewn::str("out: ", out, " holds a run already"));
  make_writable_folder(out);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

LayerSelection select_layer(const run::Folder& run, const SelectLayerOptions& options,
                            const std::function<void(int, int)>& progress) {
  LoadedRun loaded(run, options);
  const prune::WeightSlot& slot = loaded.slot(options.layer);
  if (!slot.watch) throw Error(hewn::str("layer: the inputs of ", options.layer, " cannot be watched"));
  if (options.score != "norm" && options.score != "curvature") {
    throw Error(hewn::str("score: expected norm or curvature, got \"", options.score, "\""));
  }
  const at::Tensor& weight = loaded.file.tensors.at(options.layer + ".weight");
  const BlockShape block = block_for(loaded, options);
  const WeightLayout layout = prune::layout_of(weight, block);
  convex::LayerOptions choose{options.method, blocks_for(loaded, options, layout.grid),
                              options.score == "norm" ? convex::Score::kNorm : convex::Score::kCurvature,
                              options.refit};
  choose.progress = progress;
  prepare_folder(options.out);
  LayerSelection out;
  out.grid = layout.grid;
  out.part = run::evaluated_part(loaded.config.options);
  run::Observer silent;
  out.before = train::evaluate(*loaded.model, *loaded.source, *dist::alone(), silent);

  auto start = std::chrono::steady_clock::now();
  const bool intercept = options.intercept && loaded.file.tensors.contains(options.layer + ".bias");
  convex::LayerProblem problem;
  at::Tensor mean;
  {
    InputGram inputs(slot);
    out.samples = run_samples(loaded, options.samples);
    out.rows = inputs.rows();
    if (out.rows == 0) throw Error(hewn::str("layer: ", options.layer, " is not used by the network"));
    mean = inputs.mean();
    const at::Tensor gram = inputs.gram(intercept).contiguous();
    problem.gram =
        Eigen::Map<const convex::Matrix>(gram.data_ptr<double>(), layout.grid.rows, layout.grid.rows);
  }
  out.gather_seconds = seconds_since(start);
  problem.weight = to_matrix(weight, layout);
  problem.grid = layout.grid;
  problem.ridge = options.ridge.value_or(1e-4 * problem.gram.diagonal().mean());
  out.ridge = problem.ridge;
  start = std::chrono::steady_clock::now();
  out.choice = choose_blocks(problem, choose);
  out.choose_seconds = seconds_since(start);

  const at::Tensor fitted = to_tensor(out.choice.weight, layout, weight.sizes());
  at::Tensor bias_change;
  if (intercept) {
    const Eigen::Map<const convex::Vector> m(mean.data_ptr<double>(), layout.grid.rows);
    const convex::Vector change = (problem.weight - out.choice.weight).transpose() * m;
    bias_change = at::empty({layout.grid.cols}, at::kDouble);
    std::copy(change.data(), change.data() + change.size(), bias_change.data_ptr<double>());
  }
  const LayerBlocks blocks(layout.grid, {out.choice.blocks.begin(), out.choice.blocks.end()});
  replace_layer(loaded, options.layer, fitted, bias_change, blocks);
  out.after = train::evaluate(*loaded.model, *loaded.source, *dist::alone(), silent);
  if (!options.out.empty()) write_run(loaded, options, block, out.after);
  return out;
}

}  // namespace hewn::deploy
