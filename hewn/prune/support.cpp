#include "hewn/prune/support.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace hewn::prune {

LayerBlocks blocks_of(const Grid& grid, const at::Tensor& support) {
  if (!support.defined()) return LayerBlocks::all_of(grid);
  const at::Tensor flags = support.to(at::kCPU).to(at::kByte).contiguous();
  return LayerBlocks::of_flags(grid, {flags.data_ptr<uint8_t>(), static_cast<size_t>(flags.numel())});
}

at::Tensor support_of(const LayerBlocks& blocks) {
  const std::vector<uint8_t> flags = blocks.flags();
  at::Tensor support = at::empty({blocks.grid().blocks()}, at::kByte);
  std::copy(flags.begin(), flags.end(), support.data_ptr<uint8_t>());
  return support;
}

}  // namespace hewn::prune
