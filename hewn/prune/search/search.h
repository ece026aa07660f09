#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::prune {

/// What a search chooses from, for one layer.
struct Candidates {
  at::Tensor importance;       // one value per block
  at::Tensor within;           // uint8 per block: those that may be chosen; undefined means all
  int64_t keep = 0;            // the layer's budget
  int64_t floor = 1;           // the layer never keeps fewer, where the budget is shared
  at::Tensor level = {};       // one number that makes importance comparable between layers; undefined: 0
  bool in_logarithms = false;  // importance is one
  at::Tensor cost = {};        // int64 per block, where kept blocks may cost so much together
  at::Tensor memory = {};      // where the choice may go, also if `within` lies there; undefined: elsewhere
  at::Tensor growth = {};      // what blocks that may not be chosen are ranked by where some come back
};

/// What holds for all layers together.
struct Limits {
  int64_t cost = 0;  // of all kept blocks, where they have one
  double moved = 0;  // share of a layer's blocks that give way to others
};

/// Chooses the supports of all layers: uint8 per block, 1 for those that stay. Ties go to the lowest index.
/// All work stays on the tensors' device and nothing waits for it.
using Search = std::vector<at::Tensor> (*)(const std::vector<Candidates>&, const Limits&);

/// Exactly `keep` blocks of one layer.
at::Tensor top_k(const at::Tensor& importance, int64_t keep, const at::Tensor& within);

struct SearchRow {
  std::string_view name;
  std::string_view help;
  Search search;
};
const std::vector<SearchRow>& searches();
Search find_search(const std::string& name);

}  // namespace hewn::prune
