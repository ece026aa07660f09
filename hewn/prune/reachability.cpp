#include "hewn/prune/reachability.h"

#include <algorithm>

namespace hewn::prune {
namespace {

using Flags = std::vector<uint8_t>;

/// Calls body(row block's first and last row, column block's first and last column, block) for kept blocks.
template <class Body>
void each_kept(const ChainLink& link, const Body& body) {
  const Grid& grid = link.grid;
  for (int64_t block = 0; block < grid.blocks(); ++block) {
    if (!link.kept.empty() && link.kept[static_cast<size_t>(block)] == 0) continue;
    const int64_t top = block / grid.col_blocks() * grid.block.rows;
    const int64_t col_block = block % grid.col_blocks();
    body(top, std::min(top + grid.block.rows, grid.rows), grid.first_col(col_block), grid.last_col(col_block),
         block);
  }
}

bool any(const Flags& flags, int64_t begin, int64_t end) {
  return std::any_of(flags.begin() + begin, flags.begin() + end, [](uint8_t flag) { return flag != 0; });
}

void mark(Flags& flags, int64_t begin, int64_t end) {
  std::fill(flags.begin() + begin, flags.begin() + end, 1);
}

}  // namespace

std::vector<LinkReach> reachability(const std::vector<ChainLink>& chain) {
  // fed[i]: inputs of layer i that carry something from the network's input; used[i]: outputs of layer i that
  // reach the network's output.
  std::vector<Flags> fed;
  std::vector<Flags> used(chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    if (i == 0) fed.emplace_back(static_cast<size_t>(chain[0].grid.rows), uint8_t{1});
    Flags outputs(static_cast<size_t>(chain[i].grid.cols), 0);
    each_kept(chain[i], [&](int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t) {
      if (any(fed[i], top, bottom)) mark(outputs, left, right);
    });
    fed.push_back(std::move(outputs));
  }
  for (size_t i = chain.size(); i-- > 0;) {
    if (i + 1 == chain.size()) used[i].assign(static_cast<size_t>(chain[i].grid.cols), 1);
    Flags inputs(static_cast<size_t>(chain[i].grid.rows), 0);
    each_kept(chain[i], [&](int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t) {
      if (any(used[i], left, right)) mark(inputs, top, bottom);
    });
    if (i > 0) used[i - 1] = std::move(inputs);
  }
  std::vector<LinkReach> out;
  for (size_t i = 0; i < chain.size(); ++i) {
    LinkReach reach{chain[i].name, 0, 0};
    each_kept(chain[i], [&](int64_t top, int64_t bottom, int64_t left, int64_t right, int64_t) {
      ++reach.kept;
      reach.live += any(fed[i], top, bottom) && any(used[i], left, right) ? 1 : 0;
    });
    out.push_back(reach);
  }
  return out;
}

}  // namespace hewn::prune
