#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/sweep/layout.h"
#include "hewn/sweep/statistics.h"
#include "hewn/sweep/tables.h"

namespace hewn::sweep {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string difference_text(const std::string& metric, double value) {
  return printed(metric == "accuracy" ? "%+.2f" : "%+.4f", value);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

class Writer {
 public:
  Writer(const Spec& spec, const std::vector<Run>& runs, const Results& results)
      : spec_(spec), runs_(runs), results_(results), compare_(axis_number(spec, spec.settings.compare)) {
    const size_t seed = axis_number(spec, kSeed);
    seeds_ = seed < spec.axes.size() ? spec.axes[seed].values.size() : 1;
  }

  std::string write() {
    heading();
    for (const Point& part : combinations(split_axes(spec_))) {
      const std::string title = title_of(split_axes(spec_), part);
      if (!title.empty()) out_ += "\n## " + title + "\n";
      table(part);
    }
    comparisons();
    failures();
    return out_;
  }

 private:
  void heading() {
    out_ += "# " + std::filesystem::path(spec_.path).stem().string() + "\n\nTest " + results_.metric +
            (results_.metric == "accuracy" ? " in percent" : "") + ", " +
            (results_.larger ? "higher" : "lower") + " is better";
    if (seeds_ > 1) out_ += str("; mean ± standard deviation over ", seeds_, " seeds");
    if (compare_ < spec_.axes.size())
      out_ += "; the best " + spec_.settings.compare + " of each cell in bold";
    out_ += str(". ", results_.count(State::kFinished), " of ", runs_.size(), " runs are finished");
    const int64_t failed = results_.count(State::kFailed);
    out_ += failed > 0 ? str(", ", failed, " failed.\n") : ".\n";
  }

  /// All combinations of these axes' values, as points whose other places are 0.
  std::vector<Point> combinations(const std::vector<std::string>& keys) const {
    std::vector<Point> out = {Point(spec_.axes.size(), 0)};
    for (const std::string& key : keys) {
      const size_t axis = axis_number(spec_, key);
      std::vector<Point> more;
      for (const Point& point : out) {
        for (size_t v = 0; v < spec_.axes[axis].values.size(); ++v) {
          more.push_back(point);
          more.back()[axis] = v;
        }
      }
      out = std::move(more);
    }
    return out;
  }

  const std::string& name_at(const std::string& key, const Point& point) const {
    const size_t axis = axis_number(spec_, key);
    return spec_.axes[axis].values[point[axis]].name;
  }

  std::string title_of(const std::vector<std::string>& keys, const Point& point) const {
    std::string out;
    for (const std::string& key : keys) {
      out += (out.empty() ? "" : ", ") + (key == "method" ? "" : key + " ") + name_at(key, point);
    }
    return out;
  }

  static Point sum(const Point& a, const Point& b) {
    Point out = a;
    for (size_t i = 0; i < b.size(); ++i) out[i] += b[i];
    return out;
  }

  std::string cell_text(const Cell& cell) const {
    std::string text = value_text(results_.metric, mean(cell.values));
    if (const auto sd = deviation(cell.values)) text += " ± " + value_text(results_.metric, *sd);
    if (cell.values.size() < seeds_) text += str(" (n=", cell.values.size(), ")");
    return text;
  }

  /// Whether no cell of the same competition has a better mean.
  bool best(const Cell& cell) const {
    if (compare_ == spec_.axes.size() || cell.shared) return false;
    for (Point point = cell.point; const size_t v : indices(spec_.axes[compare_].values.size())) {
      point[compare_] = v;
      const Cell* other = results_.find(point);
      if (other == nullptr || other->shared || other->values.empty()) continue;
      const double lead = mean(cell.values) - mean(other->values);
      if (results_.larger ? lead < 0 : lead > 0) return false;
    }
    return true;
  }

  static std::vector<size_t> indices(size_t count) {
    std::vector<size_t> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = i;
    return out;
  }

  /// Cells that stand for a whole table, such as the dense model, are lines of their own above it.
  bool stands_alone(size_t value) const {
    return std::all_of(results_.cells.begin(), results_.cells.end(),
                       [&](const Cell& cell) { return cell.point[compare_] != value || cell.shared; });
  }

  void table(const Point& part) {
    std::vector<Point> columns = combinations(spec_.settings.columns);
    const bool competing = std::find(spec_.settings.columns.begin(), spec_.settings.columns.end(),
                                     spec_.settings.compare) != spec_.settings.columns.end();
    out_ += "\n";
    if (competing) {
      std::vector<size_t> alone;
      for (const Point& column : columns) {
        const size_t value = column[compare_];
        if (stands_alone(value) && std::find(alone.begin(), alone.end(), value) == alone.end()) {
          alone.push_back(value);
        }
      }
      for (const size_t value : alone) line_above(part, value);
      std::erase_if(columns, [&](const Point& c) { return stands_alone(c[compare_]); });
    }
    if (columns.empty()) return;
    std::string rule = "|";
    out_ += "|";
    for (const std::string& key : spec_.settings.rows) out_ += " " + key + " |", rule += "---|";
    if (spec_.settings.rows.empty()) out_ += " |", rule += "---|";
    for (const Point& column : columns) {
      out_ += " " + escaped(title_of(spec_.settings.columns, column)) + " |";
      rule += "---|";
    }
    out_ += "\n" + rule + "\n";
    for (const Point& row : combinations(spec_.settings.rows)) {
      std::string line = "|";
      bool any = false;
      for (const std::string& key : spec_.settings.rows) line += " " + escaped(name_at(key, row)) + " |";
      if (spec_.settings.rows.empty()) line += " |";
      for (const Point& column : columns) {
        const Cell* cell = results_.find(sum(part, sum(row, column)));
        any = any || cell != nullptr;
        const std::string text = cell == nullptr || cell->values.empty() ? "-" : cell_text(*cell);
        line += cell != nullptr && text != "-" && best(*cell) ? " **" + text + "** |" : " " + text + " |";
      }
      if (any) out_ += line + "\n";
    }
  }

  void line_above(const Point& part, size_t value) {
    Point point = part;
    point[compare_] = value;
    // Any cell will do, for it is the same everywhere: the first in this part of the sweep.
    for (const Cell& cell : results_.cells) {
      bool here = cell.point[compare_] == value;
      for (const std::string& key : split_axes(spec_)) {
        const size_t axis = axis_number(spec_, key);
        here = here && cell.point[axis] == part[axis];
      }
      if (!here) continue;
      out_ += spec_.axes[compare_].values[value].name + ": " + (cell.values.empty() ? "-" : cell_text(cell)) +
              "\n\n";
      return;
    }
  }

  void comparisons() {
    const std::string& baseline = spec_.settings.baseline;
    bool headed = false;
    std::string part_key;
    for (Comparison c : results_.comparisons) {
      const Axis& axis = spec_.axes[compare_];
      if (!baseline.empty()) {
        if (axis.values[c.a].name == baseline) {
          std::swap(c.a, c.b);
          std::swap(c.wins, c.losses);
          c.difference = -c.difference;
        }
        if (axis.values[c.b].name != baseline) continue;
      } else if (c.where) {
        continue;  // all pairs of values by all parts are for results.json
      }
      const std::string key = c.where ? spec_.axes[c.where->first].key : "";
      if (!headed || key != part_key) {
        out_ += headed ? "\nBy " + key + ":\n\n" : "\n## Paired over cells and seeds\n\n";
        out_ += (key.empty() ? "|" : "| " + key + " |");
        out_ += " | against | wins | losses | ties | mean difference | p (sign test) |\n";
        out_ += (key.empty() ? "|" : "|---|");
        out_ += "---|---|---|---|---|---|---|\n";
        headed = true;
        part_key = key;
      }
      out_ += "| " + (c.where ? spec_.axes[c.where->first].values[c.where->second].name + " | " : "") +
              escaped(axis.values[c.a].name) + " | " + escaped(axis.values[c.b].name) +
              str(" | ", c.wins, " | ", c.losses, " | ", c.ties, " | ") +
              difference_text(results_.metric, c.difference) + " | " + printed("%.2g", c.p) + " |\n";
    }
  }

  void failures() {
    bool headed = false;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (results_.runs[i].state != State::kFailed) continue;
      if (!headed) out_ += "\n## Failed\n\n";
      headed = true;
      out_ += "- " + runs_[i].name + ": " + results_.runs[i].error + "\n";
    }
  }

  const Spec& spec_;
  const std::vector<Run>& runs_;
  const Results& results_;
  size_t compare_;
  size_t seeds_ = 1;
  std::string out_;
};

}  // namespace

std::string value_text(const std::string& metric, double value) {
  return printed(metric == "accuracy" ? "%.2f" : "%.4f", value);
}

std::string markdown_table(const Spec& spec, const std::vector<Run>& runs, const Results& results) {
  return Writer(spec, runs, results).write();
}

}  // namespace hewn::sweep
