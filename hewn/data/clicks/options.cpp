#include "hewn/data/clicks/options.h"

#include "hewn/core/error.h"
#include "hewn/core/options.h"

namespace hewn::data {

void describe(ClickOptions& options, OptionTable& table) {
  table.add("schema", options.schema, "file that describes the columns of ctr-csv (docs/data.md)");
  table.add("cache", options.cache, "folder of caches and lists of images; default: beside the data")
      .may_change_on_resume();
  table.add("min-count", options.min_count, "values of a column seen less often share one number");
  table.add("hash-size", options.hash_size,
            "above 0: hash the values of a column into so many numbers instead of counting them");
  table.add("split", options.split, "what is held out: hash (a share of the rows) or day (the last file)");
  table.add("test-share", options.test_share,
            "share in the test part: of the rows, with split hash; of the images, in class folders only");
  table.add("validation-share", options.validation_share, "share in the validation part, likewise");
  table.add("bad-rows", options.bad_rows, "share of malformed rows that is tolerated");
}

void check(const ClickOptions& options) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  const auto share = [](const char* name, double value) {
    if (!(value >= 0 && value < 1)) throw Error(str(name, ": expected a share in [0, 1), got ", value));
  };
  if (options.min_count < 1) throw Error(str("min-count: expected at least 1, got ", options.min_count));
  if (options.hash_size < 0 || options.hash_size > kLargest) {
    throw Error(str("hash-size: expected 0 to ", kLargest, ", got ", options.hash_size));
  }
  if (options.split != "hash" && options.split != "day") {
    throw Error(str("split: expected hash or day, got \"", options.split, "\""));
  }
  share("test-share", options.test_share);
  share("validation-share", options.validation_share);
  share("bad-rows", options.bad_rows);
  if (options.test_share + options.validation_share >= 1) {
    throw Error("test-share and validation-share: their sum must be below 1, or no row is left for training");
  }
}

}  // namespace hewn::data
