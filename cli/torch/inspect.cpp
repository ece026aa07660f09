#include "cli/usage/inspect.h"

#include <algorithm>
#include <iostream>

#include "cli/table.h"
#include "cli/torch/layer_table.h"
#include "cli/torch/report_table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/inspect_run.h"

namespace hewn::cli {
namespace {

/// The first of them: a thousand names say no more.
std::string classes_text(const std::vector<std::string>& classes) {
  constexpr size_t kShown = 20;
  if (classes.empty()) return "not named";
  const std::vector<std::string> first(
      classes.begin(), classes.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, classes.size())));
  return plain_text(join(first)) + (classes.size() > kShown ? str(", ... (", classes.size(), ")") : "");
}

void print_file(const deploy::FileReport& report, const std::string& file) {
  if (!report.model.empty()) std::cout << plain_text(report.model);
  if (!report.method.empty()) std::cout << ", " << plain_text(report.method);
  if (!report.weights) {
    std::cout << "; takes " << to_string(report.input) << ", gives " << report.outputs
              << (report.outputs == 1 ? " output" : " outputs");
  }
  if (!report.model.empty() || !report.weights) std::cout << "\n\n";
  print_layers(report.content.layers);
  std::cout << '\n' << file << ": " << bytes_text(report.content.bytes);
  if (report.weights) {
    std::cout << ", " << bytes_text(report.other_bytes) << " of them in vectors and numbers\n";
    if (!report.note.empty()) std::cout << report.note << '\n';
  } else {
    const std::string takes = deploy::preprocessing_text(report);
    std::cout << "\nclasses: " << classes_text(report.classes) << "\ntakes: "
              << (takes.empty() ? "numbers; how raw data become inputs is not in the file"
                                : plain_text(takes))
              << '\n';
  }
}

}  // namespace

int run_inspect(InspectFields& fields, const Given& /*given*/) {
  if (fields.kind == io::SourceKind::kRun) {
    print_report(deploy::inspect_run({fields.source}), fields.json);
    return 0;
  }
  const deploy::FileReport report = deploy::inspect_file(fields.source);
  if (fields.json) {
    std::cout << deploy::to_json(report, fields.source).dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  } else {
    print_file(report, fields.source);
  }
  return 0;
}

}  // namespace hewn::cli
