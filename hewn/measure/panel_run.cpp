#include "hewn/measure/panel_run.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace hewn::measure {

bool PanelRun::panel_each() const { return in.panels() >= at::get_num_threads(); }

void PanelRun::multiply_group(int64_t panel, int64_t index, const float* x, float* y, int64_t begin,
                              int64_t end) const {
  const auto first = static_cast<size_t>(index * group);
  const size_t count = std::min(static_cast<size_t>(group), positions.size() - first);
  kernels::multiply(*weight, x + in.offset(panel), y + out.offset(panel), in.columns(panel),
                    positions.subspan(first, count), {}, begin, end);
}

void PanelRun::multiply_panel(int64_t panel, const float* x, float* y) const {
  for (int64_t g = 0; g < groups(); ++g) multiply_group(panel, g, x, y, 0, weight->tile_count());
}

void PanelRun::multiply(const float* x, float* y) const {
  const int64_t tasks = in.panels() * groups();
  if (tasks >= at::get_num_threads()) {
    at::parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        multiply_group(i / groups(), i % groups(), x, y, 0, weight->tile_count());
      }
    });
    return;
  }
  const std::vector<int64_t> ranges = tile_ranges(*weight, at::get_num_threads());
  at::parallel_for(0, static_cast<int64_t>(ranges.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = 0; task < tasks; ++task) {
      multiply_group(task / groups(), task % groups(), x, y, ranges[static_cast<size_t>(begin)],
                     ranges[static_cast<size_t>(end)]);
    }
  });
}

std::vector<int64_t> tile_ranges(const kernels::Packed& weight, int64_t parts) {
  const auto& tiles = weight.tiles();
  std::vector<int64_t> ranges = {0};
  for (size_t i = 1; i < tiles.size(); ++i) {
    const int64_t done = static_cast<int64_t>(ranges.size());
    const bool enough = tiles[i].values * parts >= weight.products() * done;
    if (enough && !tiles[i].accumulate && done < parts) ranges.push_back(static_cast<int64_t>(i));
  }
  ranges.push_back(weight.tile_count());
  return ranges;
}

void fill_packed(kernels::Packed& weight, const float* values) {
  at::parallel_for(0, weight.tile_count(), 16,
                   [&](int64_t begin, int64_t end) { weight.fill(values, begin, end); });
}

}  // namespace hewn::measure
