#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/results/pairing.h"
#include "hewn/results/standing.h"
#include "hewn/sweep/expand.h"
#include "hewn/sweep/folder.h"

namespace hewn::sweep {

/// What became of one run.
struct RunResult {
  State state = State::kWaiting;
  Json summary;                 // of a finished one
  std::optional<double> value;  // of the sweep's metric
  std::string error;            // of a failed one, or why a finished one has no value
};

/// All seeds of one combination of the other axes.
struct Cell {
  Point point;             // the seed's place is 0
  results::Sample sample;  // of finished runs, by the number of the seed
  size_t run = 0;          // number of its first run
  bool shared = false;     // the dense model beside pruned ones; see Run
  bool best = false;       // nobody in its competition has a better mean
};

/// The cells that differ in the compared axis alone and have values.
struct Competition {
  Point point;                // the compared axis' place is 0
  std::vector<size_t> cells;  // numbers
  results::Standing standing;

  /// The number of the cell that wins, where one does.
  std::optional<size_t> winner() const;
};

/// Two values of the compared axis over all combinations of the others, seed by seed.
struct Comparison {
  size_t a = 0;
  size_t b = 0;
  std::optional<std::pair<size_t, size_t>> where;  // only where this axis has this value
  results::Pairing pairing;
};

struct Results {
  std::string metric;
  bool larger = true;  // is better
  std::vector<RunResult> runs;
  std::vector<Cell> cells;
  std::vector<Competition> competitions;
  std::vector<Comparison> comparisons;  // those with at least one pair; over everything before parts

  int64_t count(State state) const;
  const Cell* find(const Point& point) const;
};

/// Reads what is finished. Throws FormatError for a summary without the metric.
Results collect(const Spec& spec, const std::vector<Run>& runs, const Folder& folder);

/// The number of an axis; the number of axes where there is none of that name.
size_t axis_number(const Spec& spec, const std::string& key);

}  // namespace hewn::sweep
