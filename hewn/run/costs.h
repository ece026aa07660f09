#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/run/options.h"

namespace hewn::run {

/// What a network's layers cost on some machine: the file that `hewn advise --costs` writes and that a budget
/// of milliseconds counts by. docs/formats.md describes it.
struct Costs {
  std::string model;
  std::string data;            // "" where it was the model's usual one
  std::vector<int64_t> input;  // of one sample
  BlockShape block;
  int64_t batch = 0;
  int64_t threads = 0;
  std::string machine;
  std::vector<prune::LayerTimes> layers;
};

Json to_json(const Costs& costs);

/// Throws FormatError, naming `where` and the key, for anything but such a file.
Costs parse_costs(const std::string& text, const std::string& where);

/// Puts what a file says into the options. Throws FormatError where it is damaged or of another block.
void take_costs(Options& options, const std::string& text, const std::string& where);
/// The same with the file that the options name, where they name one.
void load_costs(Options& options);

/// Throws Error where there is a budget of milliseconds without costs, or costs without it.
void check_costs(const Options& options);

}  // namespace hewn::run
