#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn::prune {

/// A layer of a plain chain with the blocks that it keeps; `kept` empty means all.
struct ChainLink {
  std::string name;
  Grid grid;
  std::vector<uint8_t> kept;
};

/// How much of a layer still takes part, once one follows the kept blocks from the input and back from the
/// output.
struct LinkReach {
  std::string name;
  int64_t kept = 0;  // blocks kept
  int64_t live = 0;  // of them, blocks on a path from an input to an output
};

/// With per-layer supports at very low density, kept blocks of one layer may feed no kept block of the next:
/// such blocks are dead weight, and a layer without a live block cuts the network in two.
std::vector<LinkReach> reachability(const std::vector<ChainLink>& chain);

/// Gives the place of every kept block without use to the most important block of the same layer that has
/// one, and no larger, while there are such; `importance` is asked of links with dead blocks only. Dense
/// links (`kept` empty) stay as they are.
void give_to_live_blocks(std::vector<ChainLink>& chain,
                         const std::function<std::vector<double>(size_t link)>& importance);

}  // namespace hewn::prune
