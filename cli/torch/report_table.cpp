#include "cli/torch/report_table.h"

#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::cli {

namespace {

std::string times_text(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) {
    if (!text.empty()) text += 'x';
    text += std::to_string(value);
  }
  return text;
}

/// The columns of costs: multiply-adds and milliseconds only where they are known of all layers.
struct CostColumns {
  bool products;
  bool ms;

  explicit CostColumns(const train::ModelReport& report)
      : products(report.products_dense().has_value()), ms(report.ms_dense().has_value()) {}

  void name(std::vector<std::string>& row) const {
    row.insert(row.end(), {"bytes", "dense bytes"});
    if (products) row.insert(row.end(), {"multiply-adds", "dense"});
    if (ms) row.insert(row.end(), {"ms", "dense ms"});
  }
  void add(const train::LayerReport& layer, std::vector<std::string>& row) const {
    row.insert(row.end(), {bytes_text(layer.bytes_sparse), bytes_text(layer.bytes_dense)});
    if (products)
      row.insert(row.end(), {count_text(layer.products_sparse), count_text(layer.products_dense)});
    if (ms) row.insert(row.end(), {fixed(layer.ms_sparse, 3), fixed(layer.ms_dense, 3)});
  }
};

train::LayerReport total_of(const train::ModelReport& report) {
  train::LayerReport all;
  all.bytes_dense = report.bytes_dense();
  all.bytes_sparse = report.bytes_sparse();
  all.products_dense = report.products_dense().value_or(0);
  all.products_sparse = report.products_sparse().value_or(0);
  all.ms_dense = report.ms_dense().value_or(0);
  all.ms_sparse = report.ms_sparse().value_or(0);
  return all;
}

}  // namespace

void print_report(const train::ModelReport& report, bool json) {
  if (json) {
    std::cout << train::to_json(report).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  const CostColumns costs(report);
  std::vector<std::vector<std::string>> rows = {{"layer", "shape", "grid", "kept", "requested", "realised"}};
  costs.name(rows[0]);
  std::vector<bool> right(rows[0].size(), true);
  right[0] = right[1] = false;
  rows[0].emplace_back();
  right.push_back(false);
  for (const train::LayerReport& layer : report.layers) {
    rows.push_back(
        {layer.name, times_text(layer.shape), times_text({layer.grid.row_blocks(), layer.grid.col_blocks()}),
         str(layer.kept, " of ", layer.grid.blocks()),
         layer.pruned ? percent(report.requested_sparsity) : "-", percent(layer.realised_sparsity)});
    costs.add(layer, rows.back());
    rows.back().push_back(layer.note.empty() ? "" : "dense: " + layer.note);
  }
  rows.push_back({"all", "", "", str(report.blocks_kept(), " of ", report.blocks()),
                  percent(report.requested_sparsity), percent(report.realised_sparsity())});
  costs.add(total_of(report), rows.back());
  rows.back().emplace_back();
  print_table(std::cout, rows, right);
  std::cout << '\n'
            << report.layers_pruned() << " of " << report.layers.size() << " layers pruned, block "
            << to_string(report.block) << "; realised sparsity counts layers left dense\n";
  for (const std::string& limit : report.limits) std::cout << limit << '\n';
  for (const std::string& warning : report.warnings) std::cout << "note: " << warning << '\n';
}

}  // namespace hewn::cli
