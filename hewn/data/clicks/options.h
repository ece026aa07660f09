#pragma once

#include <cstdint>
#include <string>

namespace hewn {
class OptionTable;
}

namespace hewn::data {

/// How click logs in files become numbers (docs/data.md).
struct ClickOptions {
  std::string schema = {};     // file that describes the columns of ctr-csv
  std::string cache = {};      // folder of the binary cache; empty: beside the data
  int64_t min_count = 10;      // values seen less often share one number
  int64_t hash_size = 0;       // above 0: values are hashed into that many numbers instead of counted
  std::string split = "hash";  // hash, or day: the last file is held out
  double test_share = 0.1;     // of the rows, with split hash
  double validation_share = 0.1;
  double bad_rows = 0.001;  // share of malformed rows that is tolerated
};

/// Adds one option per field, for the command line and config files.
void describe(ClickOptions& options, OptionTable& table);

/// Throws Error that names the option whose value makes no sense.
void check(const ClickOptions& options);

}  // namespace hewn::data
