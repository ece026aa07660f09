#include "cli/torch/report_table.h"

#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::cli {

void print_report(const train::ModelReport& report, bool json) {
  if (json) {
    std::cout << train::to_json(report).dump() << '\n';
    return;
  }
  const auto times = [](const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values) {
      if (!text.empty()) text += 'x';
      text += std::to_string(value);
    }
    return text;
  };
  std::vector<std::vector<std::string>> rows = {
      {"layer", "shape", "grid", "kept", "requested", "realised", "bytes", "dense bytes", ""}};
  for (const train::LayerReport& row : report.layers) {
    rows.push_back({row.name, times(row.shape), times({row.grid.row_blocks(), row.grid.col_blocks()}),
                    str(row.kept, " of ", row.grid.blocks()),
                    row.pruned ? percent(report.requested_sparsity) : "-", percent(row.realised_sparsity),
                    bytes_text(row.bytes_sparse), bytes_text(row.bytes_dense),
                    row.note.empty() ? "" : "dense: " + row.note});
  }
  rows.push_back({"all", "", "", str(report.blocks_kept(), " of ", report.blocks()),
                  percent(report.requested_sparsity), percent(report.realised_sparsity()),
                  bytes_text(report.bytes_sparse()), bytes_text(report.bytes_dense()), ""});
  print_table(std::cout, rows, {false, false, true, true, true, true, true, true, false});
  std::cout << '\n'
            << report.layers_pruned() << " of " << report.layers.size() << " layers pruned, block "
            << to_string(report.block) << "; realised sparsity counts layers left dense\n";
  for (const std::string& warning : report.warnings) std::cout << "note: " << warning << '\n';
}

}  // namespace hewn::cli
