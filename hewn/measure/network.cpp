#include "hewn/measure/network.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/measure/dense_graph.h"
#include "hewn/measure/kept_weight.h"
#include "hewn/measure/pattern.h"
#include "hewn/measure/prepared.h"
#include "hewn/runtime/model.h"

namespace hewn::measure {
namespace {

constexpr double kLimitMs = 2000;   // of one way, as far as the least rounds allow
constexpr double kLeastRounds = 3;  // what a median needs

struct State {
  runtime::Model model;
  at::Tensor samples;
  at::Tensor out;

  State(const runtime::ModelData& data, int64_t batch, uint64_t seed)
      : model(data), samples(draw_samples(data, batch, seed)), out(at::empty({batch, model.outputs()})) {
    model.set_threads(at::get_num_threads());
  }
  void run() { model.run(samples.data_ptr<float>(), samples.size(0), out.data_ptr<float>()); }
};

int64_t rounds_for(double call_ms, int64_t rounds) {
  const double fitting = std::max(kLimitMs / call_ms, kLeastRounds);
  return fitting < static_cast<double>(rounds) ? static_cast<int64_t>(fitting) : rounds;
}

}  // namespace

at::Tensor draw_samples(const runtime::ModelData& model, int64_t batch, uint64_t seed) {
  const runtime::Shape& shape = model.graph.nodes.front().shape;
  at::Tensor samples = random_tensor({batch, shape.channels, shape.height, shape.width}, seed, 0);
  const std::vector<int64_t> vocabularies = runtime::vocabularies_of(model.graph);
  for (int64_t i = 0; i < samples.numel() && !vocabularies.empty(); ++i) {
    const auto values = static_cast<uint32_t>(vocabularies[static_cast<size_t>(i) % vocabularies.size()]);
    const uint32_t word = draw(seed, Stream::kSynthetic, 0, static_cast<uint64_t>(i))[0];
    samples.data_ptr<float>()[i] = static_cast<float>(below(word, values));
  }
  return samples;
}

NetworkFacts facts_of(const runtime::ModelData& model) {
  NetworkFacts out;
  const std::vector<runtime::Shape> shapes = runtime::infer_shapes(model.graph, {});
  double all = 0;
  double kept = 0;
  int64_t pruned = 0;
  int64_t pruned_kept = 0;
  bool same = true;
  for (const auto& [name, table] : model.tables) {
    out.dense_bytes += static_cast<int64_t>(table.values.size() * sizeof(float));
  }
  for (size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const runtime::Node& node = model.graph.nodes[i];
    if (!has_weight(node)) continue;
    const kernels::BsrPattern& pattern = model.layers.at(node.name).pattern;
    const auto products = static_cast<double>(pattern.grid.elements() * shapes[i].height * shapes[i].width);
    all += products;
    kept += products * density(pattern);
    out.kept_blocks += pattern.kept();
    out.blocks += pattern.grid.blocks();
    out.dense_bytes += 4 * (pattern.grid.elements() + node.outputs);
    if (pattern.kept() == pattern.grid.blocks()) continue;
    pruned += pattern.grid.blocks();
    pruned_kept += pattern.kept();
    same = same && (!out.block || *out.block == pattern.grid.block);
    out.block = pattern.grid.block;
  }
  if (all > 0) out.density = kept / all;
  if (pruned > 0) out.sparsity = 1 - static_cast<double>(pruned_kept) / static_cast<double>(pruned);
  if (!same) out.block.reset();
  return out;
}

Comparison compare(const runtime::ModelData& model, const NetworkOptions& options, const MoreWays& more) {
  const c10::InferenceMode no_autograd;
  if (options.batch < 1) throw Error(str("batch: expected at least 1, got ", options.batch));
  const auto state = std::make_shared<State>(model, options.batch, options.seed);
  const at::Tensor& samples = state->samples;
  state->run();
  const DenseGraph plain(model, DenseGraph::Way::kPlain);
  const Clock clock = clock_for(at::get_num_threads());
  const double begin = now_ms(clock);
  const at::Tensor expected = plain.run(plain.prepare(samples));
  const double once = now_ms(clock) - begin;
  check_close("network", state->out, expected);

  std::vector<Contender> dense = more ? more(samples) : std::vector<Contender>();
  for (const DenseGraph::Way way : DenseGraph::ways(model.graph, options.batch)) {
    const auto graph = std::make_shared<DenseGraph>(model, way);
    dense.push_back({graph->name(), [graph, input = Prepared([=] { return graph->prepare(samples); })] {
                       graph->run(input());
                     }});
  }
  const NetworkFacts facts = facts_of(model);
  SparseWays sparse;
  sparse.density = facts.density;
  sparse.kept_blocks = facts.kept_blocks;
  sparse.blocks = facts.blocks;
  sparse.panels = {{"runtime", [state] { state->run(); }}};
  for (const auto& [name, layer] : model.layers) {
    sparse.weight_bytes += static_cast<int64_t>(layer.values.size() * sizeof(float));
  }
  for (const auto& [name, table] : model.tables) {
    sparse.weight_bytes += static_cast<int64_t>(table.values.size() * sizeof(float));
  }
  Turns turns{rounds_for(once, options.rounds), clock};
  turns.warm_up = false;
  return compare(sparse, dense, turns);
}

}  // namespace hewn::measure
