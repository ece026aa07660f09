#include "cli/help.h"

namespace hewn::cli {

std::string default_text(const Json& value) {
  if (value.is_null()) return "auto";
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const Json& item : value) out += (out.empty() ? "" : ",") + default_text(item);
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  // One empty line between groups.
  for (size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  std::string name = CLI::Formatter::make_option_name(option, is_positional);
  const size_t off = name.find(",--no-");
  if (off == std::string::npos || name.find("{false}") == std::string::npos) return name;
  std::string on = name.substr(0, off);
  if (option->get_default_str() == "off") return on;
  return on + ",--no-" + on.substr(on.rfind("--") + 2);
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_default_str() == "off") return "";
  return CLI::Formatter::make_option_opts(option);
}

}  // namespace hewn::cli
