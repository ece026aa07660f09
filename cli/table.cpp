#include "cli/table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/text.h"
#include "hewn/results/metric.h"

namespace hewn::cli {

void print_table(std::ostream& out, std::vector<std::vector<std::string>> rows,
                 const std::vector<bool>& right) {
  // Names of layers come out of files.
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  std::vector<size_t> widths(right.size(), 0);
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - row[c].size(), ' ');
      line += (c == 0 ? "" : "  ") + (right[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

std::string percent(double fraction) { return fixed(100 * fraction, 1) + " %"; }

std::string short_number(double value) {
  std::ostringstream out;
  out.precision(6);
  out << value;
  return out.str();
}

std::string count_text(int64_t count) {
  constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fixed(value, unit == 0 ? 0 : 2) + kUnits[unit];
}

std::string clock_text(double seconds) {
  const auto all = static_cast<long>(std::lround(std::max(0.0, seconds)));
  std::array<char, 64> buffer{};
  if (all >= 3600) {
    std::snprintf(buffer.data(), buffer.size(), "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
  } else {
    std::snprintf(buffer.data(), buffer.size(), "%ld:%02ld", all / 60, all % 60);
  }
  return buffer.data();
}

std::string plain_text(const std::string& name) {
  const bool plain =
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; });
  return plain ? name : Json(name).dump();
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("+-./:=@_,%", c) != nullptr;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string metric_text(const std::string& name, double value) {
  return results::value_text(name, value) + (name == "accuracy" ? " %" : "");
}

}  // namespace hewn::cli
