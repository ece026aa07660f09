#include "hewn/prune/reachability.h"

#include <algorithm>
#include <numeric>

namespace hewn::prune {
namespace {

using Flags = std::vector<uint8_t>;

/// The rows and columns of a block.
struct Extent {
  int64_t top, bottom, left, right;

  Extent(const Grid& grid, int64_t block)
      : top(block / grid.col_blocks() * grid.block.rows),
        bottom(std::min(top + grid.block.rows, grid.rows)),
        left(grid.first_col(block % grid.col_blocks())),
        right(grid.last_col(block % grid.col_blocks())) {}
};

bool keeps(const ChainLink& link, int64_t block) {
  return link.kept.empty() || link.kept[static_cast<size_t>(block)] != 0;
}

bool any(const Flags& flags, int64_t begin, int64_t end) {
  return std::any_of(flags.begin() + begin, flags.begin() + end, [](uint8_t flag) { return flag != 0; });
}

void mark(Flags& flags, int64_t begin, int64_t end) {
  std::fill(flags.begin() + begin, flags.begin() + end, 1);
}

/// fed[i]: inputs of layer i that carry something from the network's input; used[i]: outputs of layer i that
/// reach the network's output.
struct Flow {
  std::vector<Flags> fed, used;

  explicit Flow(const std::vector<ChainLink>& chain) : used(chain.size()) {
    for (size_t i = 0; i < chain.size(); ++i) {
      const Grid& grid = chain[i].grid;
      if (i == 0) fed.emplace_back(static_cast<size_t>(grid.rows), uint8_t{1});
      Flags outputs(static_cast<size_t>(grid.cols), 0);
      for (int64_t block = 0; block < grid.blocks(); ++block) {
        const Extent at(grid, block);
        if (keeps(chain[i], block) && any(fed[i], at.top, at.bottom)) mark(outputs, at.left, at.right);
      }
      fed.push_back(std::move(outputs));
    }
    for (size_t i = chain.size(); i-- > 0;) {
      const Grid& grid = chain[i].grid;
      if (i + 1 == chain.size()) used[i].assign(static_cast<size_t>(grid.cols), 1);
      Flags inputs(static_cast<size_t>(grid.rows), 0);
      for (int64_t block = 0; block < grid.blocks(); ++block) {
        const Extent at(grid, block);
        if (keeps(chain[i], block) && any(used[i], at.left, at.right)) mark(inputs, at.top, at.bottom);
      }
      if (i > 0) used[i - 1] = std::move(inputs);
    }
  }

  /// Whether a block would lie on a path from an input to an output if it were kept.
  bool passes(size_t link, const Grid& grid, int64_t block) const {
    const Extent at(grid, block);
    return any(fed[link], at.top, at.bottom) && any(used[link], at.left, at.right);
  }
};

/// Returns whether anything changed.
bool mend(ChainLink& link, const Flow& flow, size_t number,
          const std::function<std::vector<double>(size_t)>& importance) {
  const Grid& grid = link.grid;
  std::vector<int64_t> dead;
  std::vector<int64_t> others;
  for (int64_t block = 0; block < grid.blocks(); ++block) {
    const bool passes = flow.passes(number, grid, block);
    if (keeps(link, block) && !passes) dead.push_back(block);
    if (!keeps(link, block) && passes) others.push_back(block);
  }
  if (dead.empty() || others.empty()) return false;
  const std::vector<double> rank = importance(number);
  std::stable_sort(others.begin(), others.end(), [&](int64_t a, int64_t b) {
    return rank[static_cast<size_t>(a)] > rank[static_cast<size_t>(b)];
  });
  bool changed = false;
  for (const int64_t block : dead) {
    const auto heir = std::find_if(others.begin(), others.end(), [&](int64_t other) {
      return grid.elements_of(other) <= grid.elements_of(block);
    });
    if (heir == others.end()) continue;
    link.kept[static_cast<size_t>(block)] = 0;
    link.kept[static_cast<size_t>(*heir)] = 1;
    others.erase(heir);
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<LinkReach> reachability(const std::vector<ChainLink>& chain) {
  const Flow flow(chain);
  std::vector<LinkReach> out;
  for (size_t i = 0; i < chain.size(); ++i) {
    LinkReach reach{chain[i].name, 0, 0};
    for (int64_t block = 0; block < chain[i].grid.blocks(); ++block) {
      if (!keeps(chain[i], block)) continue;
      ++reach.kept;
      reach.live += flow.passes(i, chain[i].grid, block) ? 1 : 0;
    }
    out.push_back(reach);
  }
  return out;
}

void give_to_live_blocks(std::vector<ChainLink>& chain,
                         const std::function<std::vector<double>(size_t link)>& importance) {
  // A block that comes to life can give life to dead ones of other layers, never take it: layer by layer,
  // until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < chain.size(); ++i) {
      if (!chain[i].kept.empty()) changed = mend(chain[i], Flow(chain), i, importance) || changed;
    }
  }
}

}  // namespace hewn::prune
