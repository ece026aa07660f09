#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/measure/interleave.h"

namespace hewn::measure {

/// The three products of a layer's training step; inference needs the first.
enum class Product { kForward, kGradInput, kGradWeight };

/// How much of a weight is kept.
struct Point {
  BlockShape block;
  double sparsity = 0.9;
};

/// Throws Error where the sparsity is outside [0, 1) or the block does not fit into the weight. Kernels take
/// such blocks too, as ragged ones; asking for them is more likely a slip.
void check_point(const Grid& grid, const Point& point);

/// Throws Error for the first of some named extents that is below 1.
void check_extents(std::initializer_list<std::pair<const char*, int64_t>> extents);

/// A product over kept blocks only, ready to be timed.
struct SparseWays {
  double density = 1;  // kept elements over all
  int64_t kept_blocks = 0;
  int64_t blocks = 0;
  int64_t weight_bytes = 0;          // of the weight as the kernel reads it
  std::vector<Contender> panels;     // activations stay in the kernels' own order
  std::vector<Contender> row_major;  // row-major in and out, converted inside the call
};

/// One layer with random weights and activations. Contenders refer to it, must not outlive it, and run with
/// LibTorch's number of threads.
class Layer {
 public:
  virtual ~Layer() = default;
  /// The whole weight as one block.
  virtual Grid grid() const = 0;
  /// Every dense way that LibTorch offers. Some may throw when they are run.
  virtual std::vector<Contender> dense(Product product) const = 0;
  /// Random blocks of the same weight. Throws Error where the result differs from LibTorch's.
  SparseWays sparse(Product product, const Point& point) const;

 private:
  virtual SparseWays sparse_forward(const Point& point) const = 0;
  virtual SparseWays sparse_grad_input(const Point& point) const = 0;
  virtual SparseWays sparse_grad_weight(const Point& point) const = 0;
};

}  // namespace hewn::measure
