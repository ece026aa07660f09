// How fast are the convolutions of ResNet-50 on kept blocks, each against cuDNN, and the network's inference
// as a whole? bf16, channels-last, everything a recorded CUDA graph; ways take turns, inputs rotate.
//
// usage: bench_gpu_convs [--batch 256] [--block 32,64] [--sparsity 0.9] [--rounds 11]
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/options.h"
#include "hewn/deploy/gpu/compare.h"
#include "hewn/deploy/gpu/turns.h"
#include "hewn/deploy/random_network.h"
#include "hewn/run/options.h"
#include "hewn/runtime/shapes.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step_graph.h"

namespace hewn::bench {
namespace {

using runtime::ModelData;
using runtime::Op;

struct Settings {
  int64_t batch = 256;
  std::vector<int64_t> block = {32, 64};
  double sparsity = 0.9;
  int64_t rounds = 11;
};

Settings parse(int count, char** arguments) {
  Settings settings;
  OptionTable table;
  table.add("batch", settings.batch, "images");
  table.add("block", settings.block, "sides of blocks");
  table.add("sparsity", settings.sparsity, "fraction of blocks that are gone");
  table.add("rounds", settings.rounds, "times that each way has its turn");
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string key = arguments[i];
    if (!key.starts_with("--")) throw Error(str("expected an option, got ", key));
    table.find(key.substr(2), "bench_gpu_convs").parse(arguments[i + 1]);
  }
  return settings;
}

/// One convolution, and how many of its kind the network has.
struct ConvLayer {
  std::string name;
  deploy::FusedStep step;
  runtime::Shape in, out;
  int64_t count = 1;
};

std::vector<ConvLayer> convolutions_of(const ModelData& model) {
  const std::vector<runtime::Shape> shapes = runtime::infer_shapes(model.graph, {});
  std::vector<ConvLayer> layers;
  std::map<std::string, size_t> known;
  for (const deploy::FusedStep& step : deploy::fuse(model.graph)) {
    const auto at = static_cast<size_t>(step.node);
    const runtime::Node& node = model.graph.nodes[at];
    if (node.op != Op::kConv2d) continue;
    const runtime::Shape& in = shapes[static_cast<size_t>(node.inputs[0])];
    const std::string kind = str(to_string(in), to_string(shapes[at]), node.window.kernel_height,
                                 step.residual >= 0 ? "+" : "", step.relu ? "relu" : "");
    const auto [found, fresh] = known.try_emplace(kind, layers.size());
    if (fresh) {
      layers.push_back({node.name, step, in, shapes[at]});
    } else {
      ++layers[found->second].count;
    }
  }
  return layers;
}

/// The fused layer, and the convolution alone.
std::vector<deploy::GpuWork> ways_of(const ModelData& model, const ConvLayer& layer,
                                     const std::vector<at::Tensor>& x, const std::vector<at::Tensor>& side) {
  const runtime::Node& node = model.graph.nodes[static_cast<size_t>(layer.step.node)];
  const bool residual = layer.step.residual >= 0;
  const auto way = [&](const char* name, bool whole, const deploy::FusedOptions& options) {
    runtime::Layer weights = model.layers.at(node.name);
    const deploy::Finish finish{whole && layer.step.relu, whole && residual};
    const auto run = deploy::make_layer(node, weights, finish, options).run;
    const auto other = whole && residual ? side : std::vector<at::Tensor>(side.size());
    return deploy::GpuWork{name, [run, x, other](size_t set) { run(x[set], other[set]); }};
  };
  using deploy::KeptLayers;
  const deploy::FusedOptions dense{at::kCUDA, at::kBFloat16};
  const deploy::FusedOptions tuned{at::kCUDA, at::kBFloat16, KeptLayers::kNone, true};
  const deploy::FusedOptions kept{at::kCUDA, at::kBFloat16, KeptLayers::kAll};
  return {way("conv_bias", false, dense), way("conv", true, dense), way("tuned", true, tuned),
          way("kept_bias", false, kept), way("kept", true, kept)};
}

Json time_layer(const ModelData& model, const ConvLayer& layer, const Settings& settings) {
  const runtime::Node& node = model.graph.nodes[static_cast<size_t>(layer.step.node)];
  const auto options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const auto draw = [&](const runtime::Shape& shape) {
    return at::randn({settings.batch, shape.channels, shape.height, shape.width}, options)
        .contiguous(at::MemoryFormat::ChannelsLast);
  };
  std::vector<at::Tensor> x, side;
  for (size_t set = 0; set < deploy::kInputSets; ++set) {
    x.push_back(draw(layer.in));
    side.push_back(layer.step.residual >= 0 ? draw(layer.out) : at::Tensor());
  }
  const kernels::BsrPattern& pattern = model.layers.at(node.name).pattern;
  const double density = static_cast<double>(pattern.kept()) / static_cast<double>(pattern.grid.blocks());
  Json row = {{"name", layer.name},
              {"count", layer.count},
              {"size", layer.in.height},
              {"in", layer.in.channels},
              {"out", layer.out.channels},
              {"kernel", node.window.kernel_height},
              {"stride", node.window.stride},
              {"residual", layer.step.residual >= 0},
              {"density", density}};
  const deploy::Finish finish{layer.step.relu, layer.step.residual >= 0};
  const auto by_rule = deploy::make_layer(node, model.layers.at(node.name), finish,
                                          {at::kCUDA, at::kBFloat16, deploy::KeptLayers::kByRule, true});
  row["by_rule"] = by_rule.on_kept_blocks ? "kept blocks" : "dense";
  for (const measure::Timing& timing : deploy::take_turns(ways_of(model, layer, x, side), settings.rounds)) {
    row[timing.name] = timing.median_ms();
  }
  return row;
}

void print_layer(const Json& row) {
  const auto ms = [&](const char* key) { return row[key].get<double>(); };
  const double dense = std::min(ms("conv"), ms("tuned"));
  std::printf("%-22s x%ld %3ld px %4ld > %4ld k%ld s%ld%s %4.1f %%  %.4f %.4f %.4f | %.4f %.4f  %5.2fx  %s\n",
              row["name"].get<std::string>().c_str(), row["count"].get<long>(), row["size"].get<long>(),
              row["in"].get<long>(), row["out"].get<long>(), row["kernel"].get<long>(),
              row["stride"].get<long>(), row["residual"].get<bool>() ? "+" : " ", 100 * ms("density"),
              ms("conv_bias"), ms("conv"), ms("tuned"), ms("kept_bias"), ms("kept"), dense / ms("kept"),
              row["by_rule"].get<std::string>().c_str());
  std::fflush(stdout);
}

Json time_network(const deploy::RandomNetwork& network, const Settings& settings) {
  const auto found = deploy::compare_on_gpu(network.data, {settings.batch, settings.rounds, 1}, at::kCUDA,
                                            {deploy::plain_way(network, at::kCUDA)});
  for (const auto* candidates : {&found.times.dense_candidates, &found.times.sparse_candidates}) {
    for (const measure::Candidate& way : *candidates) {
      std::printf("whole network  %-40s %8.3f ms\n", way.name.c_str(), way.ms);
    }
  }
  std::printf("whole network  %.2fx the fastest dense way, %.2fx %s; %zu layers on kept blocks\n",
              found.times.speedup(), found.times.dense_candidates[0].ms / found.times.sparse.ms,
              found.times.dense_candidates[0].name.c_str(), found.on_kept_blocks.size());
  std::fflush(stdout);
  Json out = measure::to_json(found.times);
  out["on_kept_blocks"] = found.on_kept_blocks;
  return out;
}

Json measure_block(int64_t block, const Settings& settings) {
  run::Options options;
  options.model = "resnet50";
  options.prune.block = {block, block};
  options.prune.sparsity = settings.sparsity;
  options.prune.min_blocks = 1;
  const auto network = deploy::random_network(options, train::signature_for("resnet50", ""));
  std::printf(
      "\nblocks of %ld, %.0f %% gone, batch %ld; ms: cuDNN with bias, with all passes, tuned | "
      "kept blocks with bias, with all; over the faster cuDNN; by rule\n",
      static_cast<long>(block), 100 * settings.sparsity, static_cast<long>(settings.batch));
  Json rows = Json::array();
  {
    const c10::InferenceMode no_autograd;
    const train::RecordableStream stream(at::kCUDA);
    at::globalContext().setBenchmarkCuDNN(true);
    for (const ConvLayer& layer : convolutions_of(network.data)) {
      rows.push_back(time_layer(network.data, layer, settings));
      print_layer(rows.back());
    }
  }
  return {{"block", block},
          {"batch", settings.batch},
          {"sparsity", settings.sparsity},
          {"layers", rows},
          {"network", time_network(network, settings)}};
}

}  // namespace
}  // namespace hewn::bench

int main(int count, char** arguments) try {
  const auto settings = hewn::bench::parse(count, arguments);
  hewn::Json all = hewn::Json::array();
  for (const int64_t block : settings.block) all.push_back(hewn::bench::measure_block(block, settings));
  std::printf("%s\n", all.dump().c_str());
} catch (const std::exception& problem) {
  std::fprintf(stderr, "bench_gpu_convs: %s\n", problem.what());
  return 1;
}
