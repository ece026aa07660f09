#include "hewn/convex/layer.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "hewn/convex/solver/block_column.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// All columns of blocks. What could enter or leave is looked up anew only in columns that changed.
class Layer {
 public:
  Layer(const LayerProblem& problem, const LayerOptions& options)
      : grid_(problem.grid), score_(options.score) {
    for (Index c = 0; c < grid_.col_blocks(); ++c) columns_.push_back({{problem, c, options.refit}, {}, {}});
  }

  double loss() const {
    return std::accumulate(columns_.begin(), columns_.end(), 0.0,
                           [](double sum, const Column& column) { return sum + column.fit.loss(); });
  }
  double objective() const {
    return std::accumulate(columns_.begin(), columns_.end(), 0.0,
                           [](double sum, const Column& column) { return sum + column.fit.objective(); });
  }

  void add(Index block) {
    std::vector<Index> rows = column_of(block).fit.chosen();
    rows.push_back(block / grid_.col_blocks());
    change(block, std::move(rows));
  }
  void remove(Index block) {
    std::vector<Index> rows = column_of(block).fit.chosen();
    std::erase(rows, block / grid_.col_blocks());
    change(block, std::move(rows));
  }

  /// The block that would gain most, ties to the lowest number; -1 when all are chosen.
  Index entering() {
    Index block = -1;
    double most = -std::numeric_limits<double>::infinity();
    for (Index c = 0; c < grid_.col_blocks(); ++c) {
      Column& column = columns_[to_size(c)];
      if (!column.best) column.best = best_outside(column.fit);
      if (column.best->row < 0) continue;
      const Index candidate = column.best->row * grid_.col_blocks() + c;
      if (column.best->gain > most || (column.best->gain == most && candidate < block)) {
        most = column.best->gain;
        block = candidate;
      }
    }
    return block;
  }
  /// The chosen block that would cost least.
  Index leaving() {
    Index block = -1;
    double least = std::numeric_limits<double>::infinity();
    for (Index c = 0; c < grid_.col_blocks(); ++c) {
      Column& column = columns_[to_size(c)];
      if (!column.costs) column.costs = column.fit.costs(score_);
      for (size_t i = 0; i < column.costs->size(); ++i) {
        const Index candidate = column.fit.chosen()[i] * grid_.col_blocks() + c;
        const double cost = (*column.costs)[i];
        if (cost < least || (cost == least && candidate < block)) {
          least = cost;
          block = candidate;
        }
      }
    }
    return block;
  }

  Matrix weight() const {
    Matrix out(grid_.rows, grid_.cols);
    Index at = 0;
    for (const Column& column : columns_) {
      out.middleCols(at, column.fit.weight().cols()) = column.fit.weight();
      at += column.fit.weight().cols();
    }
    return out;
  }

 private:
  struct Best {
    Index row = -1;
    double gain = 0;
  };
  struct Column {
    BlockColumn fit;
    std::optional<Best> best;                  // outside the set
    std::optional<std::vector<double>> costs;  // of what is in it
  };

  Column& column_of(Index block) { return columns_[to_size(block % grid_.col_blocks())]; }

  void change(Index block, std::vector<Index> rows) {
    Column& column = column_of(block);
    column.fit.set(std::move(rows));
    column.best.reset();
    column.costs.reset();
  }

  Best best_outside(const BlockColumn& fit) const {
    std::vector<bool> chosen(to_size(grid_.row_blocks()), false);
    for (const Index row : fit.chosen()) chosen[to_size(row)] = true;
    Best best;
    for (Index row = 0; row < grid_.row_blocks(); ++row) {
      if (chosen[to_size(row)]) continue;
      const double gain = fit.gain(row, score_);
      if (best.row < 0 || gain > best.gain) best = {row, gain};
    }
    return best;
  }

  Grid grid_;
  Score score_;
  std::vector<Column> columns_;
};

std::vector<Index> by_norm(const LayerProblem& problem, Index k) {
  const Grid& grid = problem.grid;
  std::vector<double> norms(to_size(grid.blocks()), 0.0);
  for (Index j = 0; j < grid.cols; ++j) {
    for (Index i = 0; i < grid.rows; ++i) {
      norms[to_size(grid.block_of(i, j))] += problem.weight(i, j) * problem.weight(i, j);
    }
  }
  std::vector<Index> order(norms.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return norms[to_size(a)] > norms[to_size(b)]; });
  order.resize(to_size(k));
  return order;
}

/// Swaps the worst block inside for the best outside while that lowers the objective.
int replace(Layer& layer, std::vector<Index>& blocks, const LayerOptions& options) {
  int swaps = 0;
  for (; swaps < options.rounds; ++swaps) {
    const double before = layer.objective();
    const Index in = layer.entering();
    if (in < 0) break;
    // What leaves is chosen with the new block in place, which may have taken its part over.
    layer.add(in);
    const Index out = layer.leaving();
    layer.remove(out);
    if (out == in || layer.objective() >= before * (1 - 1e-10)) {
      layer.remove(in);
      if (out != in) layer.add(out);
      break;
    }
    std::erase(blocks, out);
    blocks.push_back(in);
    if (options.progress) options.progress(swaps + 1, options.rounds);
  }
  return swaps;
}

void check(const LayerProblem& problem, const LayerOptions& options) {
  const Grid& grid = problem.grid;
  if (problem.weight.rows() != grid.rows || problem.weight.cols() != grid.cols ||
      problem.gram.rows() != grid.rows || problem.gram.cols() != grid.rows) {
    throw Error(str("layer: the grid is ", grid.rows, "x", grid.cols, ", the weight ", problem.weight.rows(),
                    "x", problem.weight.cols(), " and the Gram matrix ", problem.gram.rows(), "x",
                    problem.gram.cols()));
  }
  if (!problem.gram.allFinite()) throw Error("layer: its inputs are not finite");
  if (!problem.weight.allFinite()) throw Error("layer: its weights are not finite");
  if (!(problem.ridge >= 0)) throw Error(str("ridge: expected 0 or more, got ", problem.ridge));
  if (options.k < 1 || options.k > grid.blocks()) {
    throw Error(str("k: expected 1 to ", grid.blocks(), ", the layer's blocks, got ", options.k));
  }
  if (options.method != "omp" && options.method != "ompr" && options.method != "magnitude") {
    throw Error(str("method: expected omp, ompr or magnitude for a layer, got \"", options.method, "\""));
  }
}

}  // namespace

LayerChoice choose_blocks(const LayerProblem& problem, const LayerOptions& options) {
  check(problem, options);
  Layer layer(problem, options);
  LayerChoice out;
  out.null_loss = layer.loss();
  const bool pursue = options.method != "magnitude";
  const std::vector<Index> given = pursue ? std::vector<Index>() : by_norm(problem, options.k);
  for (Index i = 0; i < options.k; ++i) {
    const Index block = pursue ? layer.entering() : given[to_size(i)];
    layer.add(block);
    out.blocks.push_back(block);
    out.losses.push_back(layer.loss());
    if (options.progress) options.progress(static_cast<int>(i) + 1, static_cast<int>(options.k));
  }
  if (options.method == "ompr") {
    out.swaps = replace(layer, out.blocks, options);
    if (out.swaps > 0) {
      // Losses in the order of the final set, so that they mean the same as for omp.
      Layer again(problem, options);
      out.losses.clear();
      for (const Index block : out.blocks) {
        again.add(block);
        out.losses.push_back(again.loss());
      }
    }
  }
  out.weight = layer.weight();
  return out;
}

}  // namespace hewn::convex
