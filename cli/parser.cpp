#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/hand_over.h"
#include "cli/help.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/core/version.h"
#include "hewn/sweep/line.h"

namespace hewn::cli {
namespace {

CLI::Option* add_option(CLI::App& app, const Option& option, Given& given) {
  const std::string key = option.key;
  const std::string name = (key.size() == 1 ? "-" + key + "," : "") + "--" + key;
  if (!option.is_flag) {
    return app
        .add_option_function<std::string>(
            name, [&given, key](const std::string& v) { given[key] = v; }, option.help)
        ->type_name("")
        ->default_str(default_text(option.get()))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  // Switched off by --no-KEY: some are on, and what is on may depend on other options.
  const std::string off = key.starts_with("no-") ? "" : ",!--no-" + key;
  return app
      .add_flag_function(
          name + off, [&given, key](int64_t count) { given[key] = count > 0 ? "true" : "false"; },
          option.help)
      ->default_str(default_text(option.get()));
}

void add_options(CLI::App& app, const Command& command, Given& given, std::string& config) {
  for (const Positional& positional : command.positionals) {
    CLI::Option* option = positional.list != nullptr
                              ? app.add_option(positional.name, *positional.list, positional.help)
                              : app.add_option(positional.name, *positional.value, positional.help);
    if (positional.required) option->required();
  }
  for (const Option& option : command.options.options()) {
    CLI::Option* const added = add_option(app, option, given);
    if (command.grouped) added->group(option.group);
  }
  // An empty group keeps them out of --help.
  for (const Option& option : command.options.old_options()) {
    if (app.get_option_no_throw("--" + option.key) == nullptr) add_option(app, option, given)->group("");
  }
  if (command.takes_config)
    app.add_option("--config", config, "file with the same keys as these options (TOML)");
  if (!command.grouped) return;
  for (const char* name : {"--help", "--config"}) {
    if (CLI::Option* option = app.get_option_no_throw(name)) option->group("General");
  }
}

/// Puts the defaults into the help that this command's run would really have.
void show_defaults(CLI::App& app, const Command& command, const Given& given, const std::string& config) {
  if (!command.defaults) return;
  Given all = config.empty() ? Given{} : read_config_file(config, command).values;
  for (const auto& [key, text] : given) all[key] = text;
  for (const auto& [key, text] : command.defaults(all)) {
    if (CLI::Option* option = app.get_option_no_throw("--" + key)) option->default_str(text);
  }
}

/// CLI11's words for an unknown option, with the nearest known one.
[[noreturn]] void reject_extras(const CLI::App& app, const Command* command) {
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras.front();
  if (command == nullptr || !word.starts_with("--")) throw Error(str("unexpected argument \"", word, "\""));
  const std::string key = word.substr(2, word.find('=') - 2);
  std::vector<std::string> known = command->options.keys();
  known.emplace_back("help");
  const std::string guess = nearest(key, known);
  throw Error(str("unknown option --", key, guess.empty() ? "" : " (did you mean --" + guess + "?)"));
}

void check_command(const std::vector<Command>& commands, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  throw Error(
      str("unknown command \"", argv[1], "\"", did_you_mean(argv[1], names), "; known: ", join(names)));
}

/// Takes what stands behind -- off the arguments, where the command wants it.
int take_rest(const std::vector<Command>& commands, int argc, char** argv) {
  const auto chosen = std::find_if(commands.begin(), commands.end(), [&](const Command& command) {
    return argc > 1 && command.name == argv[1] && command.rest != nullptr;
  });
  if (chosen == commands.end()) return argc;
  char** const end = argv + argc;
  char** const mark = std::find(argv, end, std::string_view("--"));
  if (mark == end) return argc;
  chosen->rest->assign(mark + 1, end);
  return static_cast<int>(mark - argv);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

int parse_and_run(const std::vector<Command>& commands, int argc, char** argv) {
  CLI::App app{"hewn trains neural networks into block-sparse form", "hewn"};
  app.set_version_flag("--version", kVersion);
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  check_command(commands, argc, argv);
  argc = take_rest(commands, argc, argv);
  std::vector<Given> given(commands.size());
  std::vector<std::string> configs(commands.size());
  std::vector<CLI::App*> subs;
  for (size_t i = 0; i < commands.size(); ++i) {
    CLI::App* sub = app.add_subcommand(commands[i].name, commands[i].help);
    sub->footer("Example:\n  " + commands[i].example);
    add_options(*sub, commands[i], given[i], configs[i]);
    subs.push_back(sub);
  }
  const auto chosen = [&] {
    size_t i = 0;
    while (i < subs.size() && !subs[i]->parsed()) ++i;
    return i;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    const size_t i = chosen();
    reject_extras(app, i < commands.size() ? &commands[i] : nullptr);
  } catch (const CLI::RequiredError& error) {
    const size_t i = chosen();
    throw Error(str(one_line(error.what()), "; see hewn ", i < commands.size() ? commands[i].name + " " : "",
                    "--help"));
  } catch (const CLI::CallForHelp& error) {
    const size_t i = chosen();
    if (i < commands.size()) show_defaults(*subs[i], commands[i], given[i], configs[i]);
    return app.exit(error);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --version
    throw Error(one_line(error.what()));
  }
  const size_t i = chosen();
  // What comes through a pipe can be read once only.
  std::error_code unknown;
  if (!configs[i].empty() && std::filesystem::is_fifo(configs[i], unknown)) reach_torch();
  const ConfigFile file = configs[i].empty() ? ConfigFile{} : read_config_file(configs[i], commands[i]);
  Given all = file.values;
  for (const auto& [key, text] : given[i]) all[key] = text;
  try {
    for (const auto& [key, text] : all) commands[i].options.find(key, "command line").parse(text);
    commands[i].options.check();
    return commands[i].run(all);
  } catch (const Error& error) {
    // What is said of an option begins with its name; it may have come from the file.
    const std::string what = error.what();
    const std::string key = what.substr(0, what.find(':'));
    const auto line = file.lines.find(key);
    if (line != file.lines.end() && !given[i].contains(key)) {
      sweep::reject_line({configs[i], line->second}, what);
    }
    throw;
  }
}

}  // namespace hewn::cli
