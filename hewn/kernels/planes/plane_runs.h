#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hewn/kernels/packed.h"

namespace hewn::kernels {

/// Tiles of a weight one behind the other that read the rows [first_row, last_row) and no output twice.
struct PlaneSegment {
  int64_t begin = 0;  // tiles
  int64_t end = 0;
  int64_t first_row = 0;
  int64_t last_row = 0;
};

/// Where the tiles of a weight find their inputs in planes: Run::row is then an offset in floats.
struct PlaneRuns {
  std::vector<Run> runs;
  std::vector<int32_t> first;    // of each tile, and behind the last one
  std::vector<int32_t> skipped;  // of each tile: its weights before the first that is needed
  std::vector<int32_t> rows;     // where each row of the weight is
  std::vector<PlaneSegment> segments;
  /// Whether so many tiles read a row that all are brought side by side first.
  bool gathers = false;
};

/// Taps [first, last) of a weight.
struct TapRange {
  int64_t first = 0;
  int64_t last = INT64_MAX;
  bool operator==(const TapRange&) const = default;
};
constexpr TapRange kAllTaps;

/// The weight's rows are (tap, channel). A tap's input lies taps[tap] floats behind the output's place, its
/// channels `stride` floats apart. Taps that are not among `needed` are left out: what they read are zeros.
PlaneRuns plane_runs(const Packed& weight, int64_t channels, std::span<const int64_t> taps, int64_t stride,
                     TapRange needed = kAllTaps);

}  // namespace hewn::kernels
