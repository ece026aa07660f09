#include "hewn/convex/model.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/json_file.h"

namespace hewn::convex {
namespace {

constexpr int kModelVersion = 1;

Json numbers_json(const Eigen::RowVectorXd& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

Eigen::RowVectorXd numbers_from(const Json& json, std::size_t count) {
  const auto values = json.get<std::vector<double>>();
  if (values.size() != count) throw Error(str("expected ", count, " numbers, got ", values.size()));
  return Eigen::Map<const Eigen::RowVectorXd>(values.data(), to_index(values.size()));
}

Json column_json(const ModelColumn& column) {
  Json out = {{"name", column.name}};
  if (!column.level.empty()) out["level"] = column.level;
  if (column.may_miss) out["mean"] = column.mean;
  out["coefficients"] = numbers_json(column.slope);
  return out;
}

ModelColumn column_from(const Json& json, std::size_t outputs) {
  ModelColumn out;
  out.name = json.at("name").get<std::string>();
  out.level = json.value("level", "");
  out.may_miss = json.contains("mean");
  if (out.may_miss) out.mean = json.at("mean").get<double>();
  out.slope = numbers_from(json.at("coefficients"), outputs);
  return out;
}

Json model_json(const LinearModel& model) {
  Json out = {
      {"hewn", "select"},           {"version", kModelVersion}, {"task", model.task},
      {"method", model.method},     {"targets", model.targets}, {"outputs", model.outputs},
      {"selected", model.selected}, {"lambda", model.lambda},   {"intercept", numbers_json(model.intercept)}};
  if (!model.classes.empty()) out["classes"] = model.classes;
  if (model.mix != 1) out["mix"] = model.mix;
  if (model.singles != 0) out["singles"] = model.singles;
  if (!model.offset.empty()) out["offset"] = model.offset;
  if (!model.levels.empty()) out["levels"] = model.levels;
  out["columns"] = Json::array();
  for (const ModelColumn& column : model.columns) out["columns"].push_back(column_json(column));
  for (const ModelPoint& point : model.path) {
    Json slopes = Json::array();
    for (Index j = 0; j < point.slopes.rows(); ++j) slopes.push_back(numbers_json(point.slopes.row(j)));
    out["path"].push_back(
        {{"lambda", point.lambda}, {"intercept", numbers_json(point.intercept)}, {"coefficients", slopes}});
  }
  return out;
}

LinearModel model_from(const Json& json) {
  if (json.value("hewn", "") != "select" || json.value("version", 0) != kModelVersion) {
    throw Error(str("is no model of version ", kModelVersion, " that hewn select --to wrote"));
  }
  LinearModel out;
  out.task = json.at("task").get<std::string>();
  find_loss(out.task);
  out.method = json.at("method").get<std::string>();
  out.targets = json.at("targets").get<std::vector<std::string>>();
  out.outputs = json.at("outputs").get<std::vector<std::string>>();
  out.selected = json.at("selected").get<std::vector<std::string>>();
  if (json.contains("classes")) out.classes = json.at("classes").get<std::vector<std::string>>();
  const std::size_t expected = out.task == "binomial"      ? 2
                               : out.task == "multinomial" ? out.outputs.size()
                                                           : 0;
  if (out.outputs.empty() || out.classes.size() != expected) {
    throw Error(str("expected ", expected, " classes for ", out.task, ", got ", out.classes.size()));
  }
  out.offset = json.value("offset", "");
  out.lambda = json.at("lambda").get<double>();
  out.mix = json.value("mix", 1.0);
  out.singles = json.value("singles", 0.0);
  out.intercept = numbers_from(json.at("intercept"), out.outputs.size());
  for (const Json& column : json.at("columns"))
    out.columns.push_back(column_from(column, out.outputs.size()));
  if (json.contains("levels"))
    out.levels = json.at("levels").get<std::map<std::string, std::vector<std::string>>>();
  if (!json.contains("path")) return out;
  for (const Json& point : json.at("path")) {
    ModelPoint own;
    own.lambda = point.at("lambda").get<double>();
    own.intercept = numbers_from(point.at("intercept"), out.outputs.size());
    own.slopes.resize(to_index(out.columns.size()), to_index(out.outputs.size()));
    if (point.at("coefficients").size() != out.columns.size()) throw Error("a lambda has other columns");
    for (Index j = 0; j < own.slopes.rows(); ++j)
      own.slopes.row(j) = numbers_from(point.at("coefficients")[to_size(j)], out.outputs.size());
    out.path.push_back(std::move(own));
  }
  return out;
}

}  // namespace

LinearModel model_of(const Dataset& data, const Selection& found, const std::string& method,
                     bool whole_path) {
  LinearModel out;
  out.task = data.task;
  out.method = method;
  out.targets = data.targets;
  out.outputs = data.outputs;
  out.classes = data.classes;
  out.offset = data.offset;
  for (const Index g : found.selected) out.selected.push_back(found.group_names[to_size(g)]);
  out.lambda = found.solution.lambda;
  out.mix = found.mix;
  out.singles = found.singles;
  out.intercept = found.solution.intercept;
  const Groups& groups = found.problem.groups;
  std::vector<Matrix> all = {found.solution.coefficients(groups)};
  if (whole_path && found.path) {
    for (const Solution& s : found.path->solutions) all.push_back(s.coefficients(groups));
  }
  std::vector<Index> used;
  for (Index j = 0; j < groups.feature_count(); ++j) {
    const bool any =
        std::any_of(all.begin(), all.end(), [&](const Matrix& b) { return (b.row(j).array() != 0).any(); });
    if (any) used.push_back(j);
  }
  for (const Index j : used) {
    ModelColumn column;
    column.name = data.sources.empty() ? data.features[to_size(j)] : data.sources[to_size(j)];
    if (!data.levels.empty()) column.level = data.levels[to_size(j)];
    column.may_miss = !data.means.empty() && column.level.empty();
    if (column.may_miss) column.mean = data.means[to_size(j)];
    column.slope = all.front().row(j);
    out.columns.push_back(std::move(column));
  }
  for (std::size_t j = 0; j < data.levels.size(); ++j) {
    if (!data.levels[j].empty()) out.levels[data.sources[j]].push_back(data.levels[j]);
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Solution& solution = found.path->solutions[i - 1];
    out.path.push_back({solution.lambda, solution.intercept, all[i](used, Eigen::all)});
  }
  return out;
}

void write_model(const std::filesystem::path& path, const LinearModel& model) {
  write_json(path, model_json(model));
}

LinearModel read_model(const std::filesystem::path& path) {
  const Json json = read_json(path);
  try {
    return model_from(json);
  } catch (const FormatError&) {
    throw;
  } catch (const std::exception& problem) {
    throw FormatError(path.string(), problem.what());
  }
}

}  // namespace hewn::convex
