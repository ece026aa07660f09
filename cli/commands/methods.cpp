#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/data/info.h"
#include "hewn/nn/signature.h"
#include "hewn/prune/names.h"
#include "hewn/prune/recipes.h"

namespace hewn::cli {
namespace {

template <class Rows>
void list(const char* title, const Rows& rows) {
  std::vector<std::vector<std::string>> out = {{title, ""}};
  for (const auto& row : rows) out.push_back({str("  ", row.name), std::string(row.help)});
  std::cout << '\n';
  print_table(std::cout, out, {false, false});
}

template <class Rows>
Json names(const Rows& rows) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back({{"name", row.name}, {"help", row.help}});
  return out;
}

/// The parts of a method whose form may depend on optimiser and data, as text.
std::vector<std::string> parts_of(const prune::Recipe& row) {
  return {row.score,
          row.schedule,
          std::string(prune::name_of(row.drop)),
          std::string(prune::name_of(row.reset)),
          str(row.logit_lr),
          row.logit_decay ? str(*row.logit_decay) : "as weights",
          row.clip_grad > 0 ? str(row.clip_grad) : "none"};
}

struct Form {
  const char* where;
  prune::Setting setting;
};
constexpr Form kForms[] = {{"from a trained network", {.trained = true}},
                           {"under Adam", {.adam = true}},
                           {"click logs, Adam", {.clicks = true, .adam = true}}};

/// The forms of a method that differ from the one for images under SGD.
std::vector<std::pair<std::string, prune::Recipe>> other_forms(const prune::Recipe& row) {
  std::vector<std::pair<std::string, prune::Recipe>> out;
  std::vector<std::string> shown = parts_of(prune::recipe_for(row.name, {}));
  for (const Form& form : kForms) {
    const prune::Recipe recipe = prune::recipe_for(row.name, form.setting);
    if (parts_of(recipe) == shown) continue;
    shown = parts_of(recipe);
    out.emplace_back(form.where, recipe);
  }
  return out;
}

Json json_of_parts(const prune::Recipe& row) {
  return {{"score", row.score},
          {"search", row.search},
          {"schedule", row.schedule},
          {"drop", prune::name_of(row.drop)},
          {"reset", prune::name_of(row.reset)},
          {"logit_lr", row.logit_lr},
          {"logit_decay", row.logit_decay ? Json(*row.logit_decay) : Json(nullptr)},
          {"clip_grad", row.clip_grad}};
}

void print_json_methods() {
  Json methods = Json::array();
  for (const prune::Recipe& row : prune::recipes()) {
    Json json = json_of_parts(row);
    json["name"] = row.name;
    json["help"] = row.help;
    json["forms"] = Json::object();
    for (const auto& [where, form] : other_forms(row)) json["forms"][where] = json_of_parts(form);
    methods.push_back(json);
  }
  std::cout << Json{{"methods", methods},
                    {"scores", names(prune::score_names())},
                    {"searches", names(prune::search_names())},
                    {"schedules", names(prune::schedules())},
                    {"models", names(nn::model_facts())},
                    {"data", names(data::source_facts())}}
                   .dump(-1, ' ', false, Json::error_handler_t::replace)
            << '\n';
}

int run_methods(bool json) {
  if (json) {
    print_json_methods();
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"method", "score", "schedule", "drop", "reset", "logit-lr", "logit-decay", "clip-grad", ""}};
  const auto add = [&](const std::string& name, const prune::Recipe& row, const std::string& help) {
    std::vector<std::string> cells = parts_of(row);
    cells.insert(cells.begin(), name);
    cells.push_back(help);
    rows.push_back(cells);
  };
  for (const prune::Recipe& row : prune::recipes()) {
    add(str("  ", row.name), row, row.help);
    for (const auto& [where, form] : other_forms(row)) add(str("    ", where), form, "");
  }
  print_table(std::cout, rows, {false, false, false, false, false, true, true, true, false});
  list("score", prune::score_names());
  list("search", prune::search_names());
  list("schedule", prune::schedules());
  list("model", nn::model_facts());
  list("data", data::source_facts());
  return 0;
}

}  // namespace

Command methods_command() {
  const auto json = std::make_shared<bool>(false);
  Command command;
  command.name = "methods";
  command.help = "list methods and their parts, models and data sets";
  command.example = "hewn methods --json";
  command.options.add("json", *json, "print JSON");
  command.run = [json](const Given&) { return run_methods(*json); };
  return command;
}

}  // namespace hewn::cli
