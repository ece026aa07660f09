#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hewn/kernels/multiply.h"

namespace hewn::measure {

/// kernels::multiply over all panels of a batch, on LibTorch's threads.
struct PanelRun {
  const kernels::Packed* weight = nullptr;
  kernels::PanelShape in;
  kernels::PanelShape out;
  std::span<const kernels::Position> positions;
  int64_t group = 1;  // positions that share a pass over the weight

  /// Threads take panels and groups of positions; where there are fewer of these than threads, ranges of
  /// tiles.
  void multiply(const float* x, float* y) const;
  /// Whether there is a panel for every thread.
  bool panel_each() const;
  /// One panel on the calling thread.
  void multiply_panel(int64_t panel, const float* x, float* y) const;

 private:
  int64_t groups() const { return (static_cast<int64_t>(positions.size()) + group - 1) / group; }
  void multiply_group(int64_t panel, int64_t index, const float* x, float* y, int64_t begin,
                      int64_t end) const;
};

/// Cuts a weight's tiles into at most `parts` ranges of about equal work; entry i to entry i + 1 is a range.
/// Tiles that share outputs stay together.
std::vector<int64_t> tile_ranges(const kernels::Packed& weight, int64_t parts);

/// Packed::fill on LibTorch's threads.
void fill_packed(kernels::Packed& weight, const float* values);

}  // namespace hewn::measure
