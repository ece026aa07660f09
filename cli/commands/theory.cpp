#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/convex/theory_walk.h"
#include "hewn/core/error.h"
#include "hewn/core/json.h"

namespace hewn::cli {
namespace {

Json statements_json(const std::vector<convex::Statement>& statements) {
  Json out = Json::array();
  for (const convex::Statement& one : statements) {
    Json figures;
    for (const auto& [name, value] : one.figures) figures[name] = value;
    out.push_back({{"name", one.name},
                   {"claim", one.claim},
                   {"holds", one.holds},
                   {"expected", one.expected},
                   {"figures", figures}});
  }
  return out;
}

void print_statements(const std::vector<convex::Statement>& statements) {
  for (const convex::Statement& one : statements) {
    std::cout << one.name << ": " << (one.holds ? "holds" : "does not hold") << ". " << one.claim << "\n ";
    for (const auto& [name, value] : one.figures)
      std::cout << ' ' << name << ' ' << short_number(value) << ';';
    std::cout << "\n";
  }
}

}  // namespace

Command theory_command() {
  const auto json = std::make_shared<bool>(false);
  Command command;
  command.name = "theory";
  command.help = "try the lemmas and theorems behind pruning on small problems: what holds, what does not";
  command.example = "hewn theory\n  hewn theory --json";
  command.options.add("json", *json, "print JSON");
  command.run = [json](const Given&) {
    const std::vector<convex::Statement> statements = convex::walk_theory();
    if (*json) {
      std::cout << statements_json(statements).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    } else {
      print_statements(statements);
    }
    for (const convex::Statement& one : statements) {
      if (one.holds != one.expected) throw Error(str(one.name, ": did not come out as it should"));
    }
    return 0;
  };
  return command;
}

}  // namespace hewn::cli
