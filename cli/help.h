#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "hewn/core/json.h"

namespace hewn::cli {

/// A default as --help shows it.
std::string default_text(const Json& value);

/// CLI11's help, in which a flag that is on shows both its spellings: --nesterov,--no-nesterov=on.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace hewn::cli
