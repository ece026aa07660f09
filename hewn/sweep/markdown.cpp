#include <algorithm>
#include <optional>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/results/metric.h"
#include "hewn/sweep/layout.h"
#include "hewn/sweep/tables.h"

namespace hewn::sweep {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

class Writer {
 public:
  Writer(const Spec& spec, const std::vector<Run>& runs, const Results& results)
      : spec_(spec), runs_(runs), results_(results), compare_(axis_number(spec, spec.options.compare)) {
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
    const auto part = spec_.fixed.find("eval-on");
    const bool validation = part != spec_.fixed.end() && part->second == "validation";
    out_ += "# " + spec_.name + "\n\n" + (validation ? "Validation " : "Test ") + results_.metric +
            (results_.metric == "accuracy" ? " in percent" : "") + ", " +
            (results_.larger ? "higher" : "lower") + " is better";
    if (seeds_ > 1) out_ += str("; mean ± standard deviation over ", seeds_, " seeds");
    if (compare_ < spec_.axes.size()) out_ += "; the best " + spec_.options.compare + " of each cell in bold";
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
    std::string text = results::value_text(results_.metric, cell.sample.mean());
    if (const auto sd = cell.sample.deviation()) text += " ± " + results::value_text(results_.metric, *sd);
    if (cell.sample.size() < seeds_) text += str(" (n=", cell.sample.size(), ")");
    return text;
  }

  /// The cell of a value that has one and the same run everywhere in this part of the sweep, such as the
  /// dense model; nullptr where it has several.
  const Cell* common_cell(const Point& part, size_t value) const {
    const Cell* first = nullptr;
    for (const Cell& cell : results_.cells) {
      bool here = cell.point[compare_] == value;
      for (const std::string& key : split_axes(spec_)) {
        const size_t axis = axis_number(spec_, key);
        here = here && cell.point[axis] == part[axis];
      }
      if (!here) continue;
      if (!cell.shared || (first != nullptr && cell.run != first->run)) return nullptr;
      if (first == nullptr) first = &cell;
    }
    return first;
  }

  /// Values that are the same in all cells become lines above the table instead of columns.
  void lines_above(const Point& part, std::vector<Point>& columns) {
    const std::vector<std::string>& keys = spec_.options.columns;
    if (std::find(keys.begin(), keys.end(), spec_.options.compare) == keys.end()) return;
    for (size_t value = 0; value < spec_.axes[compare_].values.size(); ++value) {
      const Cell* cell = common_cell(part, value);
      if (cell == nullptr) continue;
      const std::string text = cell->sample.empty() ? "-" : cell_text(*cell);
      out_ += spec_.axes[compare_].values[value].name + ": " + text + "\n\n";
      std::erase_if(columns, [&](const Point& column) { return column[compare_] == value; });
    }
  }

  void line(const std::vector<std::string>& words) {
    out_ += "|";
    for (const std::string& word : words) out_ += (word.empty() ? "" : " " + escaped(word)) + " |";
    out_ += "\n";
  }
  void rule(size_t columns) {
    out_ += "|";
    for (size_t i = 0; i < columns; ++i) out_ += "---|";
    out_ += "\n";
  }

  void table(const Point& part) {
    std::vector<Point> columns = combinations(spec_.options.columns);
    out_ += "\n";
    lines_above(part, columns);
    if (columns.empty()) return;
    std::vector<std::string> head = spec_.options.rows;
    if (head.empty()) head.emplace_back();
    for (const Point& column : columns) head.push_back(title_of(spec_.options.columns, column));
    line(head);
    rule(head.size());
    for (const Point& row : combinations(spec_.options.rows)) {
      std::vector<std::string> words;
      for (const std::string& key : spec_.options.rows) words.push_back(name_at(key, row));
      if (words.empty()) words.emplace_back();
      bool any = false;
      for (const Point& column : columns) {
        const Cell* cell = results_.find(sum(part, sum(row, column)));
        any = any || cell != nullptr;
        if (cell == nullptr || cell->sample.empty()) {
          words.emplace_back("-");
        } else {
          words.push_back(cell->best ? "**" + cell_text(*cell) + "**" : cell_text(*cell));
        }
      }
      if (any) line(words);  // a row may be excluded altogether
    }
  }

  /// A comparison as seen from the baseline's rival; none where it is not for this table.
  std::optional<Comparison> shown(Comparison c) const {
    const std::vector<AxisValue>& values = spec_.axes[compare_].values;
    const std::string& baseline = spec_.options.baseline;
    // All pairs of values by all parts are for results.json.
    if (baseline.empty()) return c.where ? std::nullopt : std::optional(c);
    if (values[c.a].name == baseline) {
      std::swap(c.a, c.b);
      c.pairing = c.pairing.reversed();
    }
    return values[c.b].name == baseline ? std::optional(c) : std::nullopt;
  }

  void comparisons() {
    std::optional<std::string> part;  // the axis of the table that is being written
    for (const Comparison& any : results_.comparisons) {
      const std::optional<Comparison> c = shown(any);
      if (!c) continue;
      const std::vector<AxisValue>& values = spec_.axes[compare_].values;
      const results::Pairing& pairing = c->pairing;
      std::vector<std::string> words = {values[c->a].name,
                                        values[c->b].name,
                                        str(pairing.wins),
                                        str(pairing.losses),
                                        str(pairing.ties),
                                        results::difference_text(results_.metric, pairing.difference),
                                        results::probability_text(pairing.p)};
      std::vector<std::string> head = {"",     "against",         "wins",         "losses",
                                       "ties", "mean difference", "p (sign test)"};
      const Axis* axis = c->where ? &spec_.axes[c->where->first] : nullptr;
      if (axis != nullptr) {
        head.insert(head.begin(), axis->key);
        words.insert(words.begin(), axis->values[c->where->second].name);
      }
      const std::string key = axis == nullptr ? "" : axis->key;
      if (part != key) {
        out_ += axis == nullptr ? "\n## Paired over cells and seeds\n\n" : "\nBy " + key + ":\n\n";
        line(head);
        rule(head.size());
      }
      part = key;
      line(words);
    }
  }

  void failures() {
    bool headed = false;
    for (size_t i = 0; i < runs_.size(); ++i) {
      if (results_.runs[i].error.empty() && results_.runs[i].state != State::kFailed) continue;
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

std::string markdown_table(const Spec& spec, const std::vector<Run>& runs, const Results& results) {
  return Writer(spec, runs, results).write();
}

}  // namespace hewn::sweep
