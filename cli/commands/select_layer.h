#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "hewn/convex/select.h"
#include "hewn/deploy/select_layer.h"

namespace hewn::cli {

/// What hewn select takes for a layer of a run beside what it takes for a table.
struct LayerFields {
  std::string run;
  deploy::SelectLayerOptions options;
};

/// Adds the options of a layer alone.
void describe(LayerFields& fields, OptionTable& table);
/// Their names.
std::vector<std::string> layer_keys();

/// Tells a run from a table in what was given as SOURCE or with --from-run; `layer.run` is empty where it is
/// a table. Throws Error where it is neither.
void settle_source(const std::string& source, LayerFields& layer);

/// hewn select RUN. Throws Error for an option in `given` that means nothing for a layer.
int select_layer(const LayerFields& fields, const convex::SelectOptions& shared, const Given& given,
                 const std::function<void(int, int)>& progress);

}  // namespace hewn::cli
