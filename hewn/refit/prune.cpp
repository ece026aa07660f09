#include "hewn/refit/prune.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/prune/plan.h"
#include "hewn/refit/choose.h"
#include "hewn/refit/layers.h"
#include "hewn/refit/sums.h"
#include "hewn/refit/walk.h"

namespace hewn::refit {
namespace {

prune::Plan plan_for(const std::vector<Layer>& layers, const Options& options) {
  std::vector<prune::WeightShape> shapes;
  for (const Layer& layer : layers) {
    shapes.push_back({layer.name, {layer.rows(), layer.outputs}, {layer.rows(), layer.outputs, {}}});
  }
  if (shapes.empty()) {
    throw Error(
        "the network has no weight that can be pruned: no Conv, Gemm or MatMul with a constant weight");
  }
  prune::PlanOptions plan;
  plan.block = options.block;
  plan.sparsity = options.sparsity;
  plan.min_blocks = options.min_blocks;
  plan.layers = options.layers;
  plan.except = options.except;
  return prune::make_plan(shapes, plan);
}

/// The quadratic of a layer. Where its outputs can be moved, a constant takes up their mean.
Quadratic quadratic_of(const Sums& sums, const Layer& layer, const Grid& grid, const Matrix& own,
                       double ridge) {
  Quadratic out{sums.xx.selfadjointView<Eigen::Lower>(), sums.xy, layer.importance, grid};
  const double count = std::max(sums.count, 1.0);
  out.h /= count;
  out.t /= count;
  const double mean_square = out.h.diagonal().mean();
  if (layer.shift.value != flow::kNone) {
    const Vector mean = sums.x / count;
    out.h.noalias() -= mean * mean.transpose();
    out.t.noalias() -= mean * (sums.y / count).transpose();
  } else {
    out.t.noalias() -= sums.x / count * layer.bias.transpose();
  }
  const double pull = std::max(ridge * mean_square, 1e-30);
  out.h.diagonal().array() += pull;
  out.t += pull * own;
  return out;
}

double relative(double squared_error, double squared_norm) {
  if (squared_norm > 0) return std::sqrt(squared_error / squared_norm);
  return squared_error > 0 ? 1 : 0;
}

class Pruning {
 public:
  Pruning(flow::Graph& graph, const Options& options, const std::vector<std::vector<flow::Tensor>>& batches)
      : graph_(graph),
        whole_(graph),
        options_(options),
        layers_(find_layers(graph)),
        plan_(plan_for(layers_, options)) {
    for (const auto& batch : batches) {
      if (batch.size() != graph.inputs.size())
        throw Error(str("expected ", graph.inputs.size(), " inputs, got ", batch.size()));
      Values values;
      for (size_t i = 0; i < batch.size(); ++i) values.emplace(graph.inputs[i].value, batch[i]);
      dense_.push_back(values);
      pruned_.push_back(std::move(values));
    }
  }

  Result run() {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      if (layer.why_dense.empty()) layer.why_dense = plan_.layers[i].why_dense;
      result_.layers.push_back({layer.name, LayerBlocks::all_of(plan_.layers[i].grid), layer.why_dense});
      if (layer.why_dense.empty()) chosen.push_back(i);
    }
    walk(0, chosen.empty() ? graph_.nodes.size() : layers_[chosen.front()].node);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const size_t end = i + 1 < chosen.size() ? layers_[chosen[i + 1]].node : graph_.nodes.size();
      prune(chosen[i], end);
      if (options_.progress) options_.progress(static_cast<int>(i) + 1, static_cast<int>(chosen.size()));
    }
    compare_outputs();
    return std::move(result_);
  }

 private:
  bool calibrated() const { return !dense_.empty(); }

  /// Both networks, from node `first` to before `last`.
  void walk(size_t first, size_t last) {
    if (!calibrated()) return;
    advance(whole_, first, last, dense_);
    advance(graph_, first, last, pruned_);
  }

  void advance(const flow::Graph& graph, size_t first, size_t last, std::vector<Values>& batches) const {
    Part part(graph, first, last, batches.front());
    part.set_threads(options_.threads);
    for (Values& batch : batches) batch = part.run(batch);
  }

  /// The whole network goes on to before `last`; on the way the layer's inputs and outputs are seen.
  Sums watch(size_t number, size_t last) {
    const Layer& layer = layers_[number];
    const flow::Node& node = whole_.nodes[layer.node];
    Sums sums(layer.rows(), layer.outputs);
    Part part(whole_, layer.node, last, dense_.front(), node.outputs[0]);
    part.set_threads(options_.threads);
    Sampling sampling{options_.seed, number, 1};
    for (size_t i = 0; i < dense_.size(); ++i) {
      const flow::Tensor input = (options_.follow ? pruned_ : dense_)[i].at(node.inputs[0]);
      dense_[i] = part.run(dense_[i]);
      const flow::Tensor output = dense_[i].at(node.outputs[0]);
      const double all = static_cast<double>(row_count(layer, output)) * static_cast<double>(dense_.size());
      sampling.share = std::min(1.0, static_cast<double>(options_.rows) / std::max(all, 1.0));
      add_rows(node, layer, input, output, sampling, i, sums);
    }
    return sums;
  }

  void prune(size_t number, size_t last) {
    const Layer& layer = layers_[number];
    const prune::LayerPlan& plan = plan_.layers[number];
    LayerResult& result = result_.layers[number];
    const Matrix own = weight_matrix(graph_, layer) * layer.scale;
    if (!own.allFinite()) throw Error(str("layer ", layer.name, ": its weights are not finite"));
    const Flags before = nonzero_blocks(own, plan.grid);
    result.zero_before = std::count(before.begin(), before.end(), 0);
    const Sums sums = calibrated() ? watch(number, last) : Sums(0, 0);
    // Zero blocks count as dropped: where they are enough nothing changes.
    const bool enough = plan.grid.blocks() - result.zero_before <= plan.keep;
    Flags kept = enough ? before : largest_blocks(own, plan.grid, plan.keep);
    Matrix weight = own;
    Vector moved = Vector::Zero(layer.outputs);
    if (!enough && options_.method != Method::kMagnitude) {
      const Quadratic problem = quadratic_of(sums, layer, plan.grid, own, options_.ridge);
      if (options_.method == Method::kPursuit) kept = pursue(problem, before, plan.keep, options_.threads);
      weight = fit(problem, kept, options_.threads);
      if (layer.shift.value != flow::kNone) {
        moved = (sums.y - weight.transpose() * sums.x) / std::max(sums.count, 1.0) - layer.bias;
        move_outputs(graph_, layer, moved);
        result_.changed.insert(layer.shift.value);
      }
    }
    if (!enough) store(layer, plan.grid, kept, weight);
    result.kept = LayerBlocks::of_flags(plan.grid, kept);
    if (!calibrated()) return;
    result.error = relative(sums.errors(weight, layer.bias + moved).sum(), sums.yy.sum() / sums.count);
    advance(graph_, layer.node, last, pruned_);
  }

  /// Zero outside kept blocks, exactly.
  void store(const Layer& layer, const Grid& grid, const Flags& kept, Matrix& weight) {
    for (Index k = 0; k < weight.cols(); ++k) {
      for (Index i = 0; i < weight.rows(); ++i) {
        if (kept[static_cast<size_t>(grid.block_of(i, k))] == 0) weight(i, k) = 0;
      }
    }
    graph_.constants[layer.weight] = weight_tensor(graph_, layer, weight / layer.scale);
    result_.changed.insert(layer.weight);
  }

  void compare_outputs() {
    if (!calibrated()) return;
    for (const flow::Port& port : graph_.outputs) {
      double error = 0;
      double norm = 0;
      bool counted = false;
      for (size_t i = 0; i < dense_.size(); ++i) {
        const flow::Tensor& expected = output(whole_, dense_[i], port.value);
        const flow::Tensor& got = output(graph_, pruned_[i], port.value);
        counted = expected.type() != flow::Type::kFloat;
        counted ? count_others(expected, got, error, norm) : add_squares(expected, got, error, norm);
      }
      const double share = counted ? error / std::max(norm, 1.0) : relative(error, norm);
      result_.output_errors.push_back({share, counted});
    }
  }

  /// Where the number of numbers has changed, none is the same.
  static void add_squares(const flow::Tensor& expected, const flow::Tensor& got, double& error,
                          double& norm) {
    const bool same_size = expected.elements() == got.elements();
    for (size_t j = 0; j < expected.values<float>().size(); ++j) {
      const double value = expected.values<float>()[j];
      const double other = same_size ? double{got.values<float>()[j]} : 0.0;
      error += (value - other) * (value - other);
      norm += value * value;
    }
  }

  static void count_others(const flow::Tensor& expected, const flow::Tensor& got, double& others,
                           double& all) {
    const bool same_size = expected.elements() == got.elements();
    const size_t size = flow::size_of(expected.type());
    for (size_t at = 0; at < expected.byte_count(); at += size) {
      const bool same = same_size && std::memcmp(expected.bytes() + at, got.bytes() + at, size) == 0;
      others += same ? 0 : 1;
      all += 1;
    }
  }

  static const flow::Tensor& output(const flow::Graph& graph, const Values& values, int32_t value) {
    const flow::Tensor* constant = graph.constant(value);
    return constant != nullptr ? *constant : values.at(value);
  }

  flow::Graph& graph_;
  flow::Graph whole_;  // as it was
  const Options& options_;
  std::vector<Layer> layers_;
  prune::Plan plan_;
  std::vector<Values> dense_;  // where the batches are in the whole network, and in the pruned one
  std::vector<Values> pruned_;
  Result result_;
};

}  // namespace

Method parse_method(const std::string& text) {
  if (text == "magnitude") return Method::kMagnitude;
  if (text == "refit") return Method::kRefit;
  if (text == "omp") return Method::kPursuit;
  throw Error(str("method: expected magnitude, refit or omp, got \"", text, "\""));
}

Result prune_graph(flow::Graph& graph, const Options& options,
                   const std::vector<std::vector<flow::Tensor>>& batches) {
  if (batches.empty() && options.method != Method::kMagnitude) {
    throw Error("calibration: methods refit and omp need inputs; only magnitude does without");
  }
  if (!(options.ridge >= 0)) throw Error(str("ridge: expected 0 or more, got ", options.ridge));
  if (options.rows < 1) throw Error(str("rows: expected at least 1, got ", options.rows));
  return Pruning(graph, options, batches).run();
}

}  // namespace hewn::refit
