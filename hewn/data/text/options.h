#pragma once

#include <cstdint>

namespace hewn {
class OptionTable;
}

namespace hewn::data {

/// How a text becomes samples (docs/data.md).
struct TextOptions {
  int64_t context = 64;  // characters of a sample
};

/// Adds one option per field, for the command line and config files.
void describe(TextOptions& options, OptionTable& table);

}  // namespace hewn::data
