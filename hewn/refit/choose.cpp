#include "hewn/refit/choose.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/refit/elimination.h"

namespace hewn::refit {
namespace {

/// Calls body(column) for every column of blocks. What a column becomes does not depend on the threads.
template <class Body>
void each_column(const Grid& grid, int threads, const Body& body) {
  bool failed = false;
#pragma omp parallel for schedule(dynamic) num_threads(std::max(1, threads))
  for (int64_t column = 0; column < grid.col_blocks(); ++column) {
    try {
      body(column);
    } catch (const std::exception&) {  // of memory: none may leave a parallel loop
#pragma omp atomic write
      failed = true;
    }
  }
  if (failed) throw Error("a layer is too large to be fitted in the memory that there is");
}

/// Inputs that meet the kept blocks of a column.
std::vector<Index> kept_rows(const Grid& grid, const Flags& kept, int64_t column) {
  std::vector<Index> out;
  for (int64_t i = 0; i < grid.rows; ++i) {
    const int64_t block = i / grid.block.rows * grid.col_blocks() + column;
    if (kept[static_cast<size_t>(block)] != 0) out.push_back(i);
  }
  return out;
}

/// The next block of a column to leave.
struct Next {
  double cost;
  int64_t block;
  size_t place;  // in the column's order
  bool operator>(const Next& other) const {
    return std::pair(cost, block) > std::pair(other.cost, other.block);
  }
};

}  // namespace

Flags nonzero_blocks(const Matrix& weight, const Grid& grid) {
  Flags out(static_cast<size_t>(grid.blocks()), 0);
  for (Index k = 0; k < weight.cols(); ++k) {
    for (Index i = 0; i < weight.rows(); ++i) {
      if (weight(i, k) != 0) out[static_cast<size_t>(grid.block_of(i, k))] = 1;
    }
  }
  return out;
}

Flags largest_blocks(const Matrix& weight, const Grid& grid, int64_t keep) {
  std::vector<double> norms(static_cast<size_t>(grid.blocks()), 0.0);
  for (Index k = 0; k < weight.cols(); ++k) {
    for (Index i = 0; i < weight.rows(); ++i) {
      norms[static_cast<size_t>(grid.block_of(i, k))] += weight(i, k) * weight(i, k);
    }
  }
  std::vector<size_t> order(norms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return norms[a] > norms[b]; });
  Flags out(norms.size(), 0);
  for (size_t i = 0; i < static_cast<size_t>(keep); ++i) out[order[i]] = norms[order[i]] > 0 ? 1 : 0;
  return out;
}

Flags pursue(const Quadratic& problem, const Flags& candidates, int64_t keep, int threads) {
  const Grid& grid = problem.grid;
  const Eigen::LLT<Matrix> factor(problem.h);
  const Matrix inverse = factor.solve(Matrix::Identity(grid.rows, grid.rows));
  const Matrix best = factor.solve(problem.t);
  std::vector<std::vector<Leaving>> orders(static_cast<size_t>(grid.col_blocks()));
  each_column(grid, threads, [&](int64_t column) {
    const int64_t first = grid.first_col(column);
    const int64_t width = grid.last_col(column) - first;
    Matrix weight = best.middleCols(first, width);
    for (Index k = 0; k < width; ++k) weight.col(k) *= problem.importance(first + k);
    std::vector<uint8_t> present(static_cast<size_t>(grid.row_blocks()));
    for (size_t r = 0; r < present.size(); ++r) {
      present[r] = candidates[r * static_cast<size_t>(grid.col_blocks()) + static_cast<size_t>(column)];
    }
    orders[static_cast<size_t>(column)] = eliminate(inverse, std::move(weight), grid.block.rows, present);
  });
  Flags out = candidates;
  int64_t left = std::count(out.begin(), out.end(), 1);
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const auto offer = [&](int64_t column, size_t place) {
    const auto& order = orders[static_cast<size_t>(column)];
    if (place < order.size()) {
      queue.push({order[place].cost, order[place].row * grid.col_blocks() + column, place});
    }
  };
  for (int64_t column = 0; column < grid.col_blocks(); ++column) offer(column, 0);
  for (; left > keep && !queue.empty(); --left) {
    const Next next = queue.top();
    queue.pop();
    out[static_cast<size_t>(next.block)] = 0;
    offer(next.block % grid.col_blocks(), next.place + 1);
  }
  return out;
}

Matrix fit(const Quadratic& problem, const Flags& kept, int threads) {
  const Grid& grid = problem.grid;
  Matrix out = Matrix::Zero(grid.rows, grid.cols);
  each_column(grid, threads, [&](int64_t column) {
    const std::vector<Index> rows = kept_rows(grid, kept, column);
    if (rows.empty()) return;
    const int64_t first = grid.first_col(column);
    const int64_t width = grid.last_col(column) - first;
    const Matrix right = problem.t(rows, Eigen::seqN(first, width));
    const Matrix solved = Matrix(problem.h(rows, rows)).llt().solve(right);
    for (size_t i = 0; i < rows.size(); ++i) {
      out.row(rows[i]).segment(first, width) = solved.row(static_cast<Index>(i));
    }
  });
  return out;
}

}  // namespace hewn::refit
