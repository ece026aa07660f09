#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/kernels/packed.h"

namespace hewn::flow {

/// A constant weight, ready to multiply: (taps x input channels) x outputs, one for every group.
struct Weight {
  std::vector<kernels::Packed> groups;
  int64_t taps = 1;
  int64_t channels = 0;  // of a group
  int64_t outputs = 0;   // of all groups
  int64_t block = 0;     // of the blocks that are left out; 0: all are multiplied
  double density = 1;    // of the kept blocks
};

/// How a weight lies in its tensor.
enum class WeightKind {
  kConv,   // outputs x channels x taps
  kInOut,  // channels x outputs: the right side of MatMul
  kOutIn,  // outputs x channels: Gemm with transB
};

/// How blocks of zeros are used: not at all (block 0), or in squares of that size.
struct BlockChoice {
  int64_t block = 0;
  double density = 1;  // kept blocks of that size; with block 0 of the last size that was tried
};

/// Blocks of zeros are looked for in squares of 32, 16, 8 and 4, or of `block` alone where that is not 0, and
/// left out where that saves a tenth of the time.
BlockChoice choose_blocks(const Tensor& tensor, WeightKind kind, int64_t groups, int64_t block);
std::shared_ptr<const Weight> pack_weight(const Tensor& tensor, WeightKind kind, int64_t groups,
                                          int64_t block);

/// A node's weight, where it is constant and the node multiplies by it.
struct WeightOf {
  const Tensor* tensor = nullptr;
  WeightKind kind = WeightKind::kConv;
  int64_t groups = 1;
};
WeightOf weight_of(const Graph& graph, const Node& node);

}  // namespace hewn::flow
