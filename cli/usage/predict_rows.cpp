#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <sstream>

#include "cli/commands/table_reading.h"
#include "cli/table.h"
#include "cli/usage/predict.h"
#include "hewn/convex/model.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/io/npy.h"

namespace hewn::cli {
namespace {

using convex::Index;

constexpr Index kShownRows = 10;
constexpr Index kShownColumns = 8;

/// The model as it is at the nearest lambda of its path.
void move_along_path(convex::LinearModel& model, const std::string& text) {
  if (model.path.empty()) throw Error("lambda: the model has one lambda only; select --whole-path keeps all");
  double wanted = 0;
  parse_value("lambda", text, wanted);
  if (!(wanted > 0)) throw Error(str("lambda: expected more than 0, got ", text));
  const auto distance = [&](const convex::ModelPoint& p) { return std::abs(std::log(p.lambda / wanted)); };
  const auto nearest =
      std::min_element(model.path.begin(), model.path.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  model.lambda = nearest->lambda;
  model.intercept = nearest->intercept;
  for (size_t j = 0; j < model.columns.size(); ++j)
    model.columns[j].slope = nearest->slopes.row(static_cast<Index>(j));
}

Json rows_json(const PredictFields& fields, const convex::LinearModel& model,
               const convex::LinearPredictions& found) {
  Json out = {
      {"model", fields.model}, {"inputs", fields.inputs}, {"task", model.task}, {"names", found.names}};
  out["samples"] = found.mean.rows();
  if (!found.classes.empty()) out["classes"] = found.classes;
  Json rows = Json::array();
  for (Index i = 0; i < found.mean.rows(); ++i) {
    const Eigen::RowVectorXd row = found.mean.row(i);
    rows.push_back(std::vector<double>(row.data(), row.data() + row.size()));
  }
  out[found.classes.empty() ? "predictions" : "probabilities"] = rows;
  Json linear = Json::array();
  for (Index i = 0; i < found.eta.rows(); ++i) {
    const Eigen::RowVectorXd row = found.eta.row(i);
    linear.push_back(std::vector<double>(row.data(), row.data() + row.size()));
  }
  out["linear"] = linear;
  return out;
}

std::string rows_csv(const convex::LinearPredictions& found) {
  std::ostringstream out;
  out.precision(17);
  out << "row" << (found.classes.empty() ? "" : ",class");
  for (const std::string& name : found.names) out << ',' << quoted_cell(name);
  out << '\n';
  for (Index i = 0; i < found.mean.rows(); ++i) {
    out << i + 1;
    if (!found.classes.empty()) out << ',' << quoted_cell(found.classes[static_cast<size_t>(i)]);
    for (Index k = 0; k < found.mean.cols(); ++k) out << ',' << found.mean(i, k);
    out << '\n';
  }
  return out.str();
}

void print_rows(const convex::LinearPredictions& found) {
  const Index shown = std::min(found.mean.cols(), kShownColumns);
  std::vector<std::vector<std::string>> rows = {{"row"}};
  if (!found.classes.empty()) rows[0].emplace_back("class");
  for (Index k = 0; k < shown; ++k) rows[0].push_back(plain_text(found.names[static_cast<size_t>(k)]));
  if (shown < found.mean.cols()) rows[0].emplace_back("...");
  for (Index i = 0; i < std::min(found.mean.rows(), kShownRows); ++i) {
    rows.push_back({str(i + 1)});
    if (!found.classes.empty()) rows.back().push_back(plain_text(found.classes[static_cast<size_t>(i)]));
    for (Index k = 0; k < shown; ++k) rows.back().push_back(short_number(found.mean(i, k)));
    if (shown < found.mean.cols()) rows.back().emplace_back("");
  }
  print_table(std::cout, rows, std::vector<bool>(rows[0].size(), true));
  if (found.mean.rows() > kShownRows) std::cout << "... (--out FILE or --json for all)\n";
  std::cout << found.mean.rows() << (found.mean.rows() == 1 ? " row\n" : " rows\n");
}

}  // namespace

int run_predict_rows(PredictFields& fields, const Given& given) {
  constexpr std::array<std::string_view, 6> kOwn = {"out", "json", "lambda", "header", "separator", "config"};
  for (const auto& [key, text] : given) {
    if (std::find(kOwn.begin(), kOwn.end(), key) == kOwn.end())
      throw Error(str(key, ": does not apply to a model of hewn select"));
  }
  if (fields.inputs.size() != 1) throw Error("predict: expected one table for a model of hewn select");
  const std::string suffix =
      fields.out.empty() ? "" : known_suffix("out", fields.out, {".csv", ".npy", ".json"});
  convex::LinearModel model = convex::read_model(fields.model);
  if (!fields.lambda.empty()) move_along_path(model, fields.lambda);
  convex::DatasetOptions reading;
  reading.header = header_of(fields.header);
  reading.separator = separator_of(fields.separator);
  const convex::LinearPredictions found = convex::predict(model, fields.inputs.front(), reading);
  if (suffix == ".csv") write_file_atomically(fields.out, rows_csv(found));
  if (suffix == ".npy") io::write_npy(fields.out, found.mean.rows(), found.mean.cols(), found.mean.data());
  const Json json = suffix == ".json" || fields.json ? rows_json(fields, model, found) : Json();
  if (suffix == ".json")
    write_file_atomically(fields.out, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (fields.json) {
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else if (fields.out.empty()) {
    print_rows(found);
  }
  return 0;
}

}  // namespace hewn::cli
