#include "cli/commands/table_reading.h"

#include "hewn/core/error.h"

namespace hewn::cli {

io::Header header_of(const std::string& text) {
  if (text == "yes") return io::Header::kYes;
  if (text == "no") return io::Header::kNo;
  if (text != "auto") throw Error(str("header: expected auto, yes or no, got \"", text, "\""));
  return io::Header::kAuto;
}

char separator_of(const std::string& text) {
  if (text == "tab") return '\t';
  if (text.size() != 1 || text == "\"")
    throw Error(str("separator: expected one character or tab, got \"", text, "\""));
  return text[0];
}

std::string quoted_cell(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace hewn::cli
