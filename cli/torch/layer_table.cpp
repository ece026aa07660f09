#include "cli/torch/layer_table.h"

#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::cli {

void print_layers(const std::vector<deploy::ExportedLayer>& layers) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "inputs", "outputs", "block", "kept", "bytes", "dense"}};
  for (const deploy::ExportedLayer& layer : layers) {
    rows.push_back({plain_text(layer.name), str(layer.grid.rows), str(layer.grid.cols),
                    layer.pruned ? to_string(layer.grid.block) : "dense",
                    str(layer.kept, " of ", layer.grid.blocks()), bytes_text(layer.bytes),
                    bytes_text(layer.bytes_dense)});
  }
  print_table(std::cout, rows, {false, true, true, true, true, true, true});
}

}  // namespace hewn::cli
