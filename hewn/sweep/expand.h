#pragma once

#include <string>
#include <vector>

#include "hewn/sweep/spec.h"

namespace hewn::sweep {

/// A combination of axis values: for each axis of the spec the number of a value.
using Point = std::vector<size_t>;

/// One training.
struct Run {
  std::string name;           // of its folder: readable, and its own
  Options options;            // of hewn train, without what only says where and how fast
  std::vector<Point> points;  // what it stands for; several where it does not depend on some axis
  bool shared = false;  // a dense model beside pruned ones: the same for all of them, competes with none
};

/// All runs of a sweep, each once, the first seed of all before the second. The dense model does not depend
/// on options that only prune and is trained once for all their values. Throws FormatError where hewn train
/// would refuse a run, naming the line that it comes from.
std::vector<Run> expand(const Spec& spec, const TrainRules& rules);

/// "block10" or "sa++": a value as part of a name.
std::string name_part(const Axis& axis, size_t value);

}  // namespace hewn::sweep
