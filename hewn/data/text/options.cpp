#include "hewn/data/text/options.h"

#include "hewn/core/options.h"

namespace hewn::data {

void describe(TextOptions& options, OptionTable& table) {
  constexpr int64_t kLongest = 65536;
  table.add("context", options.context, "text: characters that a network sees at a time")
      .between(1, kLongest);
}

}  // namespace hewn::data
