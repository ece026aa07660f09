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

void print_json_methods() {
  Json methods = Json::array();
  for (const prune::Recipe& row : prune::recipes()) {
    methods.push_back({{"name", row.name},
                       {"help", row.help},
                       {"score", row.score},
                       {"search", row.search},
                       {"schedule", row.schedule},
                       {"drop", prune::name_of(row.drop)},
                       {"reset", prune::name_of(row.reset)},
                       {"logit_lr", row.logit_lr}});
  }
  std::cout << Json{{"methods", methods},
                    {"scores", names(prune::score_names())},
                    {"searches", names(prune::search_names())},
                    {"schedules", names(prune::schedules())},
                    {"models", names(nn::model_facts())},
                    {"data", names(data::source_facts())}}
                   .dump()
            << '\n';
}

int run_methods(bool json) {
  if (json) {
    print_json_methods();
    return 0;
  }
  std::vector<std::vector<std::string>> rows = {
      {"method", "score", "schedule", "drop", "reset", "logit-lr", ""}};
  for (const prune::Recipe& row : prune::recipes()) {
    rows.push_back({str("  ", row.name), row.score, row.schedule, std::string(prune::name_of(row.drop)),
                    std::string(prune::name_of(row.reset)), str(row.logit_lr), row.help});
  }
  print_table(std::cout, rows, {false, false, false, false, false, true, false});
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
