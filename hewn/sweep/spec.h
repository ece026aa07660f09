#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hewn/sweep/sizes.h"

namespace hewn::sweep {

/// Options of hewn train: key -> text.
using Options = std::map<std::string, std::string>;

/// What a sweep must know of hewn train, which lies in a layer above LibTorch.
struct TrainRules {
  std::vector<std::string> keys;                        // of all options
  std::function<void(const Options&)> check;            // throws Error for what cannot be trained
  std::function<bool(const std::string&)> only_prunes;  // the dense model does not depend on this option
  std::function<bool(const std::string&)> may_change;   // a run may go on with another value of it
  std::vector<std::string> old_keys = {};               // of earlier versions, still read
  std::function<Options(const Options&)> current = {};  // the same options by the keys that they have now
};

/// One value of an axis: its name in tables and what it sets.
struct AxisValue {
  std::string name;
  Options options;
  Line line;
};

struct Axis {
  std::string key;
  std::vector<AxisValue> values;
  Line line;
};

/// Values of axes that are left out together: key -> names.
using Exclusion = std::map<std::string, std::vector<std::string>>;

/// The [sweep] section: how runs are made and what the table looks like.
struct SweepOptions {
  int64_t workers = 1;               // runs at a time
  int64_t threads = 0;               // of each; 0: the cores, shared by the workers
  std::string device = "cpu";        // of hewn train; several with commas take turns
  std::string metric;                // "" until known: loss for click logs, else accuracy
  std::vector<std::string> rows;     // axes
  std::vector<std::string> columns;  // axes
  std::string compare;               // the axis whose values compete; "" where there is none
  std::string baseline;              // its value that the others are compared with; "": all with all
};

/// A sweep file, read and checked as far as possible without training.
struct Spec {
  std::string path;
  std::string name;  // of its tables; see SweepFile
  std::string size;
  Options fixed;  // without the device
  std::vector<Axis> axes;
  std::vector<Exclusion> exclusions;
  SweepOptions options;
  std::map<std::string, Line> lines;  // of the fixed options that stand in the file

  const Axis* find_axis(const std::string& key) const;
};

/// What a sweep file says. `given` (data, device, workers, threads, from the command line) replaces parts of
/// it. Throws FormatError with path and line.
Spec read_spec(const SweepFile& file, const Options& given, const TrainRules& rules);

}  // namespace hewn::sweep
