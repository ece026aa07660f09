#include "cli/torch/bench.h"

#include <algorithm>
#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/measure/steadiness.h"
#include "hewn/run/options.h"

namespace hewn::cli {
namespace {

std::vector<KindJobs> jobs_of_kinds() {
  std::vector<KindJobs> rows = layer_kinds();
  for (const KindJobs& kind : network_kinds()) rows.push_back(kind);
  return rows;
}

std::string text_of(const Json& value) {
  return value.is_string() ? plain_text(value.get<std::string>())
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// One column of a row: header, text, and whether it is aligned to the right.
struct Cell {
  std::string header;
  std::string text;
  bool right = true;
};

std::vector<Cell> cells_of(const Kind& kind, const std::vector<std::string>& columns, const Json& result,
                           const std::string& product) {
  const bool forward = product == "forward";
  const Json& part = forward ? result : result[product];
  const auto optional = [&](const char* key) { return result.contains(key) ? result[key] : Json("-"); };
  const auto share = [](const Json& value) {
    return value.is_null() ? "never" : value.is_number() ? percent(value) : "-";
  };
  std::vector<Cell> out;
  for (const std::string& column : columns) out.push_back({column, text_of(result[column])});
  out.push_back({"block", text_of(optional("block"))});
  out.push_back({"sparsity", share(optional("sparsity"))});
  const std::string where = result.contains("device") ? "device" : "threads";
  out.push_back({where, text_of(result[where])});
  if (kind.products) out.push_back({"product", product, false});
  out.push_back({"dense ms", fixed(part["dense_ms"], 3)});
  out.push_back({"sparse ms", fixed(part["sparse_ms"], 3)});
  const bool told = part["speedup"].is_number();
  out.push_back({"speed-up", told ? fixed(part["speedup"], 2) + " x" : "withheld"});
  out.push_back({"of ideal", told ? percent(part["fraction_of_ideal"]) : "-"});
  if (kind.products) {
    const bool row_major = part.contains("sparse_rowmajor_ms");
    out.push_back({"row-major ms", row_major ? fixed(part["sparse_rowmajor_ms"], 3) : "-"});
    out.push_back({"break-even", forward ? share(optional("break_even_sparsity")) : "-"});
  }
  out.push_back({"fastest dense", text_of(part["dense_baseline"]), false});
  return out;
}

/// What readers of the rows should know: a line for each that has no speed-up, one for all whose speed-up
/// fewer products cannot explain.
void print_notes(const std::vector<Json>& parts) {
  std::string beyond;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const char* key : {"withheld", "break_even_withheld"}) {
      if (!parts[i].contains(key)) continue;
      std::cout << "note: row " << i + 1 << (std::string_view(key) == "withheld" ? "" : ", break-even")
                << " is withheld: " << parts[i][key].get<std::string>() << '\n';
    }
    if (parts[i].contains("beyond_products")) beyond += str(beyond.empty() ? "" : ", ", i + 1);
  }
  if (beyond.empty()) return;
  std::cout << "note: more than fewer products can give, row " << beyond << ": "
            << measure::kWhyBeyondProducts << '\n';
}

void print_rows(const Kind& kind, const std::vector<std::string>& columns, const std::vector<Json>& results) {
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  std::vector<Json> parts;
  for (const Json& result : results) {
    for (const char* product : {"forward", "grad_input", "grad_weight"}) {
      const bool forward = std::string_view(product) == "forward";
      if (!forward && !result.contains(product)) continue;
      rows.emplace_back();
      parts.push_back(forward ? result : result[product]);
      for (const Cell& cell : cells_of(kind, columns, result, product)) {
        rows.back().push_back(cell.text);
        if (rows.size() > 2) continue;
        rows.front().push_back(cell.header);
        right.push_back(cell.right);
      }
    }
  }
  print_table(std::cout, rows, right);
  print_notes(parts);
}

}  // namespace

int run_bench(BenchFields& fields, const Given& /*given*/) {
  const Kind& kind = find_kind(fields.kind);
  const std::vector<KindJobs> rows = jobs_of_kinds();
  const KindJobs& how = find_row(rows, kind.name, "bench");
  std::vector<Job> jobs;
  for (const Values& point : combinations(kind, fields)) jobs.push_back(how.prepare(point, fields));
  std::vector<Json> results;
  for (const Job& job : jobs) results.push_back(job());
  if (!fields.json) {
    print_rows(kind, how.columns, results);
  } else {
    std::cout << (results.size() == 1 ? results[0] : Json(results))
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  }
  return 0;
}

}  // namespace hewn::cli
