#pragma once

#include "hewn/train/model_report.h"

namespace hewn::cli {

/// The table of `hewn plan` and `hewn inspect` on standard output.
void print_report(const train::ModelReport& report, bool json);

}  // namespace hewn::cli
