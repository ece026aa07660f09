#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "hewn/convex/select.h"
#include "hewn/deploy/select/select_layer_options.h"

namespace hewn::cli {

/// What hewn select takes for a layer of a run beside what it takes for a table.
struct LayerFields {
  std::string run;
  deploy::SelectLayerOptions options;
  std::function<void(int, int)> progress;
};

/// Adds the options of a layer alone.
void describe(LayerFields& fields, OptionTable& table);
/// Their names.
std::vector<std::string> layer_keys();

/// Tells a run from a table in what was given as SOURCE or with --from-run; `layer.run` is empty where it is
/// a table. Throws Error where it is neither.
void settle_source(const std::string& source, LayerFields& layer);

/// Takes what tables and layers share from the options of a table. Throws Error for an option in `given` that
/// means nothing for a layer.
void settle_layer(const convex::SelectOptions& shared, const Given& given, LayerFields& layer);

/// hewn select RUN. Needs LibTorch.
int run_select_layer(LayerFields& fields, const Given& given);

}  // namespace hewn::cli
