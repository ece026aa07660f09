#pragma once

#include <vector>

#include "hewn/deploy/export.h"

namespace hewn::cli {

/// The table of `hewn export` and of `hewn inspect` for files, on standard output.
void print_layers(const std::vector<deploy::ExportedLayer>& layers);

}  // namespace hewn::cli
