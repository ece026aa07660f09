#include "cli/config_file.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/sweep/sections.h"

namespace hewn::cli {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;

void take_entry(const sweep::Entry& entry, const Command& command, ConfigFile& out) {
  const sweep::Line& line = entry.value.line;
  const Option& option = command.options.find(entry.key, str(line.file, ": line ", line.number));
  const auto [first, fresh] = out.lines.emplace(option.key, line.number);
  if (!fresh) sweep::reject_line(line, str(entry.key, " is given twice, first in line ", first->second));
  out.values[option.key] = entry.value.text();
}

}  // namespace

ConfigFile read_config_file(const std::string& path, const Command& command) {
  ConfigFile out;
  for (const sweep::Section& section :
       sweep::read_sections(read_text_input(path, kMostBytes), path, sweep::Top::kEntries)) {
    const bool ours = section.name.empty() || section.name == command.name;
    if (!ours || section.repeated || !section.label.empty() || !section.size.empty()) {
      sweep::reject_line(section.line, str("this section means nothing here; expected options before any "
                                           "section, or in [",
                                           command.name, "]"));
    }
    for (const sweep::Entry& entry : section.entries) take_entry(entry, command, out);
  }
  if (out.values.empty()) throw FormatError(path, "says nothing; expected lines such as epochs = 2");
  return out;
}

}  // namespace hewn::cli
