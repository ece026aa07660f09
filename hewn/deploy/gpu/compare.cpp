#include "hewn/deploy/gpu/compare.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <map>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/deploy/gpu/turns.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step_graph.h"

namespace hewn::deploy {
namespace {

constexpr double kClose = 0.1;  // more than bf16 rounds away in fifty layers

/// Few samples, repeated: a large batch of numbers takes long to draw.
at::Tensor some_samples(const runtime::ModelData& model, int64_t batch, uint64_t seed) {
  constexpr int64_t kFew = 32;
  const int64_t few = std::min(batch, kFew);
  const at::Tensor samples = measure::draw_samples(model, few, seed);
  return samples.repeat({(batch + few - 1) / few, 1, 1, 1}).narrow(0, 0, batch);
}

void check_close(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor wanted = expected.to(at::kFloat);
  const double error = (got.to(at::kFloat) - wanted).norm().item<double>();
  if (!(error <= kClose * wanted.norm().item<double>())) {
    throw Error(str(what, ": its results are not those of the dense network"));
  }
}

/// Those that run, and the others with the reason.
std::pair<std::vector<GpuWay>, std::vector<measure::Candidate>> ways_that_run(const std::vector<GpuWay>& ways,
                                                                              const at::Tensor& input) {
  std::vector<GpuWay> able;
  std::vector<measure::Candidate> missing;
  for (const GpuWay& way : ways) {
    try {
      way.run(input);
      able.push_back(way);
    } catch (const std::exception& error) {
      const std::string why = error.what();
      missing.push_back({way.name, 0, why.substr(0, why.find('\n'))});
    }
  }
  return {able, missing};
}

size_t fastest(const std::vector<measure::Timing>& timings, size_t begin, size_t end) {
  return static_cast<size_t>(
      std::min_element(timings.begin() + static_cast<std::ptrdiff_t>(begin),
                       timings.begin() + static_cast<std::ptrdiff_t>(end),
                       [](const auto& a, const auto& b) { return a.median_ms() < b.median_ms(); }) -
      timings.begin());
}

/// The first `dense` timings are those of dense ways.
measure::Comparison comparison_of(const runtime::ModelData& model,
                                  const std::vector<measure::Timing>& timings, size_t dense) {
  const measure::NetworkFacts facts = measure::facts_of(model);
  const size_t best_dense = fastest(timings, 0, dense);
  const size_t best_sparse = fastest(timings, dense, timings.size());
  const auto candidate = [&](size_t i) {
    return measure::Candidate{timings[i].name, timings[i].median_ms(), ""};
  };
  measure::Comparison out;
  out.density = facts.density;
  out.kept_blocks = facts.kept_blocks;
  out.blocks = facts.blocks;
  for (const auto& [name, layer] : model.layers) {
    out.weight_bytes += static_cast<int64_t>(layer.values.size() * sizeof(uint16_t));
  }
  out.dense = candidate(best_dense);
  out.sparse = candidate(best_sparse);
  out.steadiness = measure::judge(timings[best_dense], timings[best_sparse]);
  for (size_t i = 0; i < timings.size(); ++i) {
    (i < dense ? out.dense_candidates : out.sparse_candidates).push_back(candidate(i));
  }
  return out;
}

}  // namespace

GpuWay plain_way(const RandomNetwork& network, c10::Device device) {
  std::shared_ptr<nn::Model> model =
      network.model_channels_last ? network.model_channels_last : network.model;
  train::move_to(*model, device, /*cudnn_benchmark=*/true);
  model->to(at::kBFloat16);
  return {model == network.model ? "model" : "model, channels last",
          [model, numbers = model->input_type() == at::kInt](const at::Tensor& prepared) {
            return model->forward(numbers ? prepared.to(at::kInt) : prepared);
          }};
}

GpuComparison compare_on_gpu(const runtime::ModelData& model, const measure::NetworkOptions& options,
                             c10::Device device, const std::vector<GpuWay>& more) {
  if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
  const c10::InferenceMode no_autograd;
  const train::RecordableStream stream(device);
  at::globalContext().setBenchmarkCuDNN(true);
  std::vector<GpuWay> fused;
  std::map<std::string, std::shared_ptr<const FusedNetwork>> networks;
  for (const KeptLayers kept : {KeptLayers::kNone, KeptLayers::kByRule}) {
    for (const bool tuned : {false, true}) {
      const auto network =
          std::make_shared<const FusedNetwork>(model, FusedOptions{device, at::kBFloat16, kept, tuned});
      fused.push_back(
          {str(kept == KeptLayers::kNone ? "batch norms folded" : "kept blocks", tuned ? ", tuned" : ""),
           [network](const at::Tensor& prepared) { return network->run(prepared); }});
      networks[fused.back().name] = network;
    }
  }
  std::vector<at::Tensor> inputs;
  for (size_t i = 0; i < kInputSets; ++i) {
    inputs.push_back(networks.begin()->second->prepare(some_samples(model, options.batch, options.seed + i)));
  }
  auto [ways, missing] = ways_that_run(more, inputs[0]);
  const size_t dense = ways.size() + 2;
  ways.insert(ways.end(), fused.begin(), fused.end());
  const at::Tensor expected = fused[0].run(inputs[0]);
  std::vector<GpuWork> works;
  for (const GpuWay& way : ways) {
    check_close(way.name, way.run(inputs[0]), expected);
    works.push_back({way.name, [&](size_t set) { way.run(inputs[set]); }});
  }
  measure::Comparison times = comparison_of(model, take_turns(works, options.rounds), dense);
  times.dense_candidates.insert(times.dense_candidates.end(), missing.begin(), missing.end());
  const std::vector<std::string> on_kept = networks.at(times.sparse.name)->on_kept_blocks();
  return {std::move(times), on_kept};
}

}  // namespace hewn::deploy
