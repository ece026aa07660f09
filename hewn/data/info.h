#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/table.h"
#include "hewn/data/kind.h"

namespace hewn::data {

/// What a data set is.
struct DataInfo {
  std::string name;
  std::vector<int64_t> input;  // shape of one input
  int64_t classes = 0;         // clicks: 1, a single logit
  Kind kind = Kind::kImages;
  int64_t train_size = 0;
  int64_t test_size = 0;
  std::vector<int64_t> vocabularies = {};     // clicks: how many values each field takes
  std::optional<double> best_test_loss = {};  // where it is known: no model can expect a lower one
  double target_scale = 1;                    // numbers: of the target's own unit, what is 1 in a batch
  int64_t targets = 1;                        // of a sample; text: one for each position
};

/// A data set as it is listed.
struct SourceFacts {
  std::string_view name;
  std::string_view help;
  DataInfo info;  // what is known without opening a file
};
const std::vector<SourceFacts>& source_facts();

/// The path in NAME:PATH; empty where none is given.
std::string path_in(const std::string& spec);

/// What is known of a data set, NAME or NAME:PATH, without opening a file. Throws Error where there is none
/// of that name.
const DataInfo& find_info(const std::string& spec);

}  // namespace hewn::data
