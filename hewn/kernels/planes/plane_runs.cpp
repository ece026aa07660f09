#include "hewn/kernels/planes/plane_runs.h"

#include <algorithm>

namespace hewn::kernels {
namespace {

// Tiles that read a row, on average, from which on gathering pays.
constexpr double kGatherReuse = 6;
// Of the rows, how many a tile reads from which on it does.
constexpr double kGatherDensity = 0.5;

std::vector<PlaneSegment> segments_of(const Packed& weight) {
  std::vector<PlaneSegment> out;
  const auto& tiles = weight.tiles();
  for (int64_t i = 0; i < weight.tile_count(); ++i) {
    const Packed::Tile& tile = tiles[static_cast<size_t>(i)];
    if (i == 0 || tile.output < tiles[static_cast<size_t>(i) - 1].output) out.push_back({i, i, 0, 0});
    PlaneSegment& segment = out.back();
    segment.end = i + 1;
    for (int32_t r = 0; r < tile.runs; ++r) {
      const Run& run = weight.runs(tile)[r];
      const bool first = segment.last_row == 0;
      segment.first_row = first ? run.row : std::min<int64_t>(segment.first_row, run.row);
      segment.last_row = std::max<int64_t>(segment.last_row, run.row + run.length);
    }
  }
  return out;
}

/// Whether gathering pays: tiles of sparse weights come for few of the rows, and would bring all of their
/// weights anew for every panel. Strips of 16 lanes take whole cache lines of a row, which they find as fast
/// where they lie.
bool gathering_pays(const Packed& weight, const std::vector<PlaneSegment>& segments) {
  if (machine().lanes > kColumnStep) return false;
  double rows = 0;
  double all = 0;
  for (const PlaneSegment& segment : segments) {
    const auto here = static_cast<double>(segment.last_row - segment.first_row);
    rows += here;
    all += here * static_cast<double>(segment.end - segment.begin);
  }
  const double reads = static_cast<double>(weight.products()) / static_cast<double>(machine().tile_outputs);
  return reads >= kGatherReuse * rows && reads >= kGatherDensity * all;
}

}  // namespace

PlaneRuns plane_runs(const Packed& weight, int64_t channels, std::span<const int64_t> taps, int64_t stride,
                     TapRange needed) {
  PlaneRuns out;
  for (const Packed::Tile& tile : weight.tiles()) {
    out.first.push_back(static_cast<int32_t>(out.runs.size()));
    out.skipped.push_back(0);
    // Runs are in the order of rows, so those of earlier taps come first.
    for (int32_t i = 0; i < tile.runs; ++i) {
      int64_t row = weight.runs(tile)[i].row;
      for (int64_t left = weight.runs(tile)[i].length; left > 0;) {
        const int64_t tap = row / channels;
        const int64_t channel = row % channels;
        const int64_t length = std::min(left, channels - channel);
        const int64_t offset = taps[static_cast<size_t>(tap)] + channel * stride;
        if (tap < needed.first) {
          out.skipped.back() += static_cast<int32_t>(length * tile.outputs);
        } else if (tap < needed.last) {
          out.runs.push_back({static_cast<int32_t>(offset), static_cast<int32_t>(length)});
        }
        row += length;
        left -= length;
      }
    }
  }
  out.first.push_back(static_cast<int32_t>(out.runs.size()));
  for (const int64_t tap : taps) {
    for (int64_t c = 0; c < channels; ++c) out.rows.push_back(static_cast<int32_t>(tap + c * stride));
  }
  out.segments = segments_of(weight);
  out.gathers = needed == kAllTaps && gathering_pays(weight, out.segments);
  return out;
}

}  // namespace hewn::kernels
