#include "hewn/sweep/sections.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "hewn/core/error.h"
#include "hewn/core/json.h"

namespace hewn::sweep {
namespace {

bool is_bare(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '+' || c == '.';
}

bool is_number(const std::string& text) {
  double value = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(begin, end, value);
  return problem == std::errc() && stop == end;
}

std::string in_quotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

/// A value of a list or alone, as a file says it.
std::string written(const std::string& item) {
  const bool bare = item == "true" || item == "false" || (!item.empty() && is_number(item));
  return bare ? item : in_quotes(item);
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& path) : text_(text), path_(path) {}

  std::vector<Section> read(Top top) {
    std::vector<Section> sections;
    if (top == Top::kEntries) sections.emplace_back();
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a mark that some editors put before UTF-8
    for (skip_space(true); !at_end(); skip_space(true)) {
      if (peek() == '[') {
        sections.push_back(header(sections));
      } else {
        if (sections.empty()) fail("expected a section such as [train] before this");
        add_entry(sections.back());
      }
      end_of_line();
    }
    return sections;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\n' : text_[at_]; }
  [[noreturn]] void fail(const std::string& what) const { reject_line(here(), what); }

  Line here() const { return {path_, line_}; }

  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Passes blanks and comments, and ends of lines where they mean nothing.
  void skip_space(bool lines) {
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == '\n') {
        if (!lines) return;
        ++line_;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  void end_of_line() {
    skip_space(false);
    if (!at_end() && text_[at_] != '\n') fail(str("expected the end of the line, got \"", rest(), "\""));
  }

  std::string rest() const {
    std::string out = text_.substr(at_, std::min(text_.find('\n', at_), text_.size()) - at_);
    out.erase(out.find_last_not_of(" \t\r") + 1);
    return out;
  }

  std::string quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (peek() != quote) {
      char c = peek();
      if (c == '\n' || c == '\r') fail("the text in quotes does not end on its line");
      if (c == '\\' && quote == '"') {
        ++at_;
        c = peek();
        if (c != '"' && c != '\\') fail("expected \\\" or \\\\ behind a backslash");
      }
      if (static_cast<unsigned char>(c) < ' ') fail("a text in quotes holds a control character");
      out.push_back(c);
      ++at_;
    }
    ++at_;
    return out;
  }

  std::string bare() {
    const size_t begin = at_;
    while (!at_end() && is_bare(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string word(const char* what, bool dots) {
    if (peek() == '"' || peek() == '\'') return quoted();
    const size_t begin = at_;
    while (!at_end() && is_bare(text_[at_]) && (dots || text_[at_] != '.')) ++at_;
    if (at_ == begin) fail(str("expected ", what, ", got \"", rest(), "\""));
    return text_.substr(begin, at_ - begin);
  }

  Section header(const std::vector<Section>& before) {
    Section section;
    section.line = here();
    ++at_;
    section.repeated = take('[');
    section.name = word("the name of a section", false);
    if (section.name == "size" && take('.')) {
      section.size = word("the name of a size", false);
      section.name = take('.') ? word("the name of a section", false) : "";
    }
    if (!section.name.empty() && take('.')) section.label = word("a name behind the point", true);
    if (!take(']') || (section.repeated && !take(']'))) fail("expected ] behind the name of the section");
    for (const Section& other : before) {
      const bool same =
          other.size == section.size && other.name == section.name && other.label == section.label;
      if (!section.repeated && same) {
        fail(str("this section is there already, in line ", other.line.number));
      }
    }
    return section;
  }

  void add_entry(Section& section) {
    Entry entry;
    entry.value.line = here();
    entry.key = word("key = value", true);
    skip_space(false);
    if (!take('=')) fail(str("expected = behind ", entry.key));
    skip_space(false);
    for (const Entry& other : section.entries) {
      if (other.key == entry.key)
        fail(str(entry.key, " is given twice, first in line ", other.value.line.number));
    }
    entry.value.list = peek() == '[';
    if (entry.value.list) {
      entry.value.items = list(1);
    } else {
      entry.value.items = {scalar()};
    }
    section.entries.push_back(std::move(entry));
  }

  std::string scalar() {
    if (peek() == '"' || peek() == '\'') return quoted();
    const std::string got = rest();
    std::string text = bare();
    if (text.empty() || (text != "true" && text != "false" && !is_number(text))) {
      fail(str("expected a number, true, false, a text in quotes or a list, got \"", got, "\""));
    }
    return text;
  }

  std::vector<std::string> list(int depth) {
    ++at_;
    std::vector<std::string> items;
    for (skip_space(true); !take(']'); skip_space(true)) {
      if (at_end()) fail("a list does not end: expected ]");
      if (peek() == '[') {
        if (depth == 2) fail("lists inside lists inside lists mean nothing here");
        items.push_back(Value{list(depth + 1), true, {}}.text());
      } else {
        items.push_back(scalar());
      }
      skip_space(true);
      if (at_end()) fail("a list does not end: expected ]");
      if (!take(',') && peek() != ']') fail("expected , or ] behind a value of a list");
    }
    return items;
  }

  const std::string& text_;
  const std::string& path_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

std::string Value::text() const {
  std::string out;
  for (const std::string& item : items) {
    if (!out.empty()) out.push_back(',');
    out.append(item);
  }
  return out;
}

std::vector<Section> read_sections(const std::string& text, const std::string& path, Top top) {
  const std::string valid = valid_utf8(text);
  if (valid != text) {
    const auto bad = std::mismatch(text.begin(), text.end(), valid.begin(), valid.end()).first;
    reject_line({path, 1 + std::count(text.begin(), bad, '\n')}, "expected UTF-8 text");
  }
  return Reader(text, path).read(top);
}

std::string to_text(const std::vector<Section>& sections) {
  std::string out;
  for (const Section& section : sections) {
    const std::string head = section.name + (section.label.empty() ? "" : "." + in_quotes(section.label));
    out += str(section.repeated ? "\n[[" : "\n[", head, section.repeated ? "]]\n" : "]\n");
    for (const auto& [key, value] : section.entries) {
      std::string items;
      for (const std::string& item : value.items) items += (items.empty() ? "" : ", ") + written(item);
      out += str(key, " = ", value.list ? "[" + items + "]" : items, '\n');
    }
  }
  return out;
}

void reject_line(const Line& line, const std::string& what) {
  throw FormatError(line.file, str("line ", line.number, ": ", what));
}

}  // namespace hewn::sweep
