#pragma once

#include "hewn/train/inspection.h"

namespace hewn::cli {

/// The table of `hewn plan` and `hewn inspect` on standard output.
void print_report(const train::ModelReport& report, bool json);

}  // namespace hewn::cli
