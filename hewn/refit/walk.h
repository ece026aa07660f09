#pragma once

#include <map>
#include <vector>

#include "hewn/flow/network.h"

namespace hewn::refit {

/// The values of a graph that are known at some place in it, for one batch.
using Values = std::map<int32_t, flow::Tensor>;

/// Some consecutive nodes of a graph as a network of their own. A batch goes through a graph part by part, so
/// that what comes before a layer runs once, and what comes behind it sees the new weights.
class Part {
 public:
  /// Nodes [first, last). Its first batch says what there is before it; `extra` is a value that it makes and
  /// that is wanted although no later node reads it, or kNone.
  Part(const flow::Graph& graph, size_t first, size_t last, const Values& before,
       int32_t extra = flow::kNone);

  void set_threads(int threads);
  /// What is known behind it, and needed there. A value that was asked for is there too.
  Values run(const Values& before);

 private:
  std::vector<bool> needed_;  // behind the part
  std::vector<int32_t> inputs_;
  std::vector<int32_t> outputs_;
  std::vector<flow::Network> network_;  // none where there is nothing to do
};

}  // namespace hewn::refit
