#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/measure/layer.h"
#include "hewn/measure/steadiness.h"

namespace hewn::measure {

/// One way to compute a product; where this LibTorch cannot, `missing` says why and there is no time.
struct Candidate {
  std::string name;
  double ms = 0;
  std::string missing;
};

/// A product over kept blocks against the fastest dense way on this machine.
struct Comparison {
  double density = 1;  // kept elements over all
  int64_t kept_blocks = 0;
  int64_t blocks = 0;
  int64_t weight_bytes = 0;  // of the weight as the kernel reads it
  Candidate dense;           // the fastest
  Candidate sparse;          // the fastest that keeps activations in the kernels' order
  std::optional<Candidate> row_major;
  Steadiness steadiness;  // of the rounds of these two
  std::vector<Candidate> dense_candidates;
  std::vector<Candidate> sparse_candidates;

  double speedup() const { return dense.ms / sparse.ms; }
  /// 1: as much faster as there are fewer products.
  double fraction_of_ideal() const { return speedup() * density; }
  /// Where the speed-up is more than fewer products can give, a sentence that says so; else "".
  std::string beyond_products() const;
};

Json to_json(const Comparison& comparison);

/// The contenders that run, and those that do not with the reason.
struct Runnable {
  std::vector<Contender> contenders;
  std::vector<Candidate> missing;
};
Runnable runnable(const std::vector<Contender>& contenders);

/// Runs all ways in turn, again while their rounds tell no ratio, up to four times as many rounds. Those that
/// throw are left out, and named with the reason.
Comparison compare(const SparseWays& sparse, const std::vector<Contender>& dense, const Turns& turns);

/// Times a product with LibTorch's current number of threads, all ways in turn.
Comparison compare(const Layer& layer, Product product, const Point& point, int64_t rounds);

/// The least sparsity at which sparse is as fast as dense: 0 where it always is, nothing where it never is.
/// `relative_time` gives sparse over dense time at a sparsity; it is asked at a few, with straight lines
/// between them.
std::optional<double> break_even(const std::function<double(double)>& relative_time);

/// The same of a layer's forward pass.
struct BreakEven {
  std::optional<double> sparsity;
  std::string withheld;  // why it cannot be told
};
BreakEven break_even(const Layer& layer, const BlockShape& block, int64_t rounds);

}  // namespace hewn::measure
