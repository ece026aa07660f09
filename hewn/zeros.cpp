#include "hewn/zeros.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>

#include "hewn/core/error.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"

namespace hewn {
namespace {

// What is tried, largest first, to say which size would have done.
constexpr std::array<int64_t, 6> kUsualSides = {64, 32, 16, 8, 4, 2};

struct ZeroCount {
  WeightLayout layout;
  std::vector<int64_t> in_block;
  int64_t all = 0;
  int64_t in_whole_blocks = 0;

  int64_t stray() const { return all - in_whole_blocks; }
};

ZeroCount count_zeros(const prune::WeightSlot& slot, const BlockShape& block) {
  const at::Tensor values = slot.leaf.detach().to(at::kCPU).to(at::kFloat).contiguous();
  ZeroCount count{prune::layout_of(values, block, slot.groups), {}};
  const Grid& grid = count.layout.grid;
  count.in_block.resize(static_cast<size_t>(grid.blocks()));
  const auto* data = values.data_ptr<float>();
  for (int64_t column = 0; column < grid.cols; ++column) {
    for (int64_t offset = 0; offset < grid.rows; ++offset) {
      if (data[column * grid.rows + offset] != 0) continue;
      ++count.in_block[static_cast<size_t>(grid.block_of(count.layout.row_of(offset), column))];
      ++count.all;
    }
  }
  for (int64_t i = 0; i < grid.blocks(); ++i) {
    const int64_t zeros = count.in_block[static_cast<size_t>(i)];
    if (zeros == grid.elements_of(i)) count.in_whole_blocks += zeros;
  }
  return count;
}

/// A size at which all zeros form whole blocks; single weights where no other does.
BlockShape fitting_block(const std::vector<prune::WeightSlot>& slots) {
  for (const int64_t side : kUsualSides) {
    const bool fits = std::all_of(slots.begin(), slots.end(), [&](const prune::WeightSlot& slot) {
      return count_zeros(slot, {side, side}).stray() == 0;
    });
    if (fits) return {side, side};
  }
  return {1, 1};
}

LayerBlocks kept_of(const ZeroCount& count) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < count.layout.grid.blocks(); ++i) {
    if (count.in_block[static_cast<size_t>(i)] != count.layout.grid.elements_of(i)) kept.push_back(i);
  }
  return {count.layout.grid, std::move(kept)};
}

}  // namespace

Blocks blocks_by_zeros(torch::nn::Module& module, const BlockShape& block) {
  const std::vector<prune::WeightSlot> slots = nn::find_slots(module);
  Blocks blocks;
  for (const prune::WeightSlot& slot : slots) {
    const ZeroCount count = count_zeros(slot, block);
    if (count.stray() > 0) {
      throw Error(str("block ", to_string(block), ": ", count.stray(), " of the ", count.all,
                      " zeros of layer ", slot.name, " lie in blocks that are not all zero; those of the ",
                      "network form whole blocks of ", to_string(fitting_block(slots))));
    }
    if (count.all > 0) blocks[slot.name] = kept_of(count);
  }
  return blocks;
}

}  // namespace hewn
