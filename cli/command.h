#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/options.h"

namespace hewn::cli {

/// What was given explicitly, on the command line or in a config file: key -> text.
using Given = std::map<std::string, std::string>;

struct Positional {
  std::string name;
  std::string help;
  std::string* value;
  bool required = true;
  std::vector<std::string>* list = nullptr;  // instead of a value: one or more
};

/// A subcommand. `run` is called with its options' fields filled in and returns the exit code.
struct Command {
  std::string name;
  std::string help;
  std::string example;
  OptionTable options;
  std::vector<Positional> positionals;
  std::vector<std::string>* rest = nullptr;  // gets what stands behind --, where that has a meaning
  bool takes_config = false;                 // --config FILE with the same keys as the options
  bool grouped = false;                      // --help shows its options under their headings
  /// What the options will be that are not given, where that depends on those that are: key -> text for
  /// --help.
  std::function<Given(const Given&)> defaults = {};
  std::function<int(const Given&)> run;
};

#define HEWN_ACTION(name, Fields)
#define HEWN_COMMAND(name) Command name##_command();
#include "cli/commands/commands.def"
#undef HEWN_COMMAND
#undef HEWN_ACTION

/// Parses the arguments, runs the chosen command and returns its exit code. Throws Error for what does not
/// fit.
int parse_and_run(const std::vector<Command>& commands, int argc, char** argv);

}  // namespace hewn::cli
