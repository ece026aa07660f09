#include "hewn/convex/dataset/responses.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "hewn/convex/dataset/columns.h"
#include "hewn/core/error.h"

namespace hewn::convex {

std::string label_of(double value) {
  char text[32];
  const auto [end, problem] = std::to_chars(text, text + sizeof(text), value + 0.0);
  return {text, end};
}

std::vector<std::string> distinct_labels(const std::vector<std::string>& labels) {
  const std::set<std::string> distinct(labels.begin(), labels.end());
  std::vector<std::string> out(distinct.begin(), distinct.end());
  double unused = 0;
  if (std::all_of(out.begin(), out.end(),
                  [&](const std::string& s) { return io::parse_number(s, unused); })) {
    std::sort(out.begin(), out.end(), [](const std::string& a, const std::string& b) {
      double x = 0;
      double y = 0;
      io::parse_number(a, x);
      io::parse_number(b, y);
      return x < y;
    });
  }
  return out;
}

namespace {

using TextColumns = std::vector<std::vector<std::string>>;

/// Cells that are numbers, of those that have a value.
struct Counted {
  std::size_t numbers = 0;
  std::size_t others = 0;
  std::size_t first_row = 0;  // with something else
  std::size_t first_column = 0;
};

Counted count_numbers(const TextColumns& columns) {
  Counted out;
  double number = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < columns[c].size(); ++i) {
      if (io::parse_number(columns[c][i], number)) {
        ++out.numbers;
      } else if (!io::is_missing(columns[c][i]) && out.others++ == 0) {
        out.first_row = i;
        out.first_column = c;
      }
    }
  }
  return out;
}

/// Numbers throughout are a regression, text throughout are classes. A mixture is more likely a slip than
/// either.
std::string task_of(const TextColumns& columns, const std::vector<std::string>& names, const Counted& counted,
                    const std::string& path) {
  if (counted.others == 0) return "gaussian";
  if (counted.numbers > 0) {
    throw FormatError(
        path, str("row ", counted.first_row + 1, ", column \"", names[counted.first_column], "\": \"",
                  columns[counted.first_column][counted.first_row], "\" is not a number, as ",
                  counted.numbers, " other values are; correct it, or give task multinomial for classes"));
  }
  return distinct_labels(columns.front()).size() == 2 ? "binomial" : "multinomial";
}

void check_responses(const TextColumns& columns, const std::vector<std::string>& names,
                     const std::string& task, const std::string& path) {
  const bool classes = task == "binomial" || task == "multinomial";
  if (classes && columns.size() != 1)
    throw Error(str(task, ": expected one target column, got ", columns.size()));
  double number = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t i = 0; i < columns[c].size(); ++i) {
      const std::string& text = columns[c][i];
      if (io::is_missing(text)) {
        throw FormatError(path, str("row ", i + 1, ", column \"", names[c], "\": the response is missing"));
      }
      if (!classes && !io::parse_number(text, number)) {
        throw FormatError(path, str("row ", i + 1, ", column \"", names[c], "\": expected a number for ",
                                    task, ", got \"", text, "\""));
      }
    }
  }
}

void set_numbers(Dataset& out, const TextColumns& columns, const std::vector<std::string>& names,
                 const std::string& path) {
  out.problem.y.resize(to_index(columns.front().size()), to_index(columns.size()));
  for (Index k = 0; k < out.problem.y.cols(); ++k) {
    for (Index i = 0; i < out.problem.y.rows(); ++i)
      io::parse_number(columns[to_size(k)][to_size(i)], out.problem.y(i, k));
    check_range(out.problem.y.col(k).data(), out.problem.y.rows(), names[to_size(k)], path);
  }
}

void set_classes(Dataset& out, const std::vector<std::string>& column, const std::string& name,
                 const std::string& path) {
  const std::vector<std::string> labels = distinct_labels(column);
  const bool two = out.task == "binomial";
  if (two && labels.size() != 2) {
    throw Error(str("binomial: ", path, ", column \"", name, "\" has ", labels.size(),
                    " distinct values, expected 2"));
  }
  if (labels.size() < 2 || labels.size() > kMostClasses) {
    throw Error(str("multinomial: ", path, ", column \"", name, "\" has ", labels.size(),
                    " distinct values, expected 2 to ", kMostClasses, "; for numbers give task gaussian"));
  }
  std::map<std::string, Index> number_of;
  for (std::size_t k = 0; k < labels.size(); ++k) number_of[labels[k]] = to_index(k);
  const Index n = to_index(column.size());
  out.problem.y = Matrix::Zero(n, two ? 1 : to_index(labels.size()));
  for (Index i = 0; i < n; ++i) {
    const Index k = number_of[column[to_size(i)]];
    if (two) {
      out.problem.y(i, 0) = static_cast<double>(k);
    } else {
      out.problem.y(i, k) = 1;
    }
  }
  out.outputs = two ? std::vector<std::string>{labels[1]} : labels;
  out.classes = labels;
}

}  // namespace

void note_two_values(Dataset& out, const std::string& asked) {
  const auto y = out.problem.y.array();
  if (asked != "auto" || y.cols() != 1 || !(y == 0 || y == 1).all() || (y == y(0, 0)).all()) return;
  out.note = str(out.targets.front(), " is 0 or 1 throughout: --task binomial fits the chance of 1");
}

void mark_events(Dataset& out, const Vector& events, const std::string& path) {
  for (Index i = 0; i < events.size(); ++i) {
    if (events[i] != 0 && events[i] != 1) {
      throw FormatError(path, str("row ", i + 1, ": expected 0 or 1 as event, got ", events[i]));
    }
    if (!(out.problem.y(i, 0) > 0)) {
      throw FormatError(path, str("row ", i + 1, ": expected a time above 0, got ", out.problem.y(i, 0)));
    }
    if (events[i] == 0) out.problem.y(i, 0) = -out.problem.y(i, 0);
  }
}

void set_responses(Dataset& out, std::vector<std::vector<std::string>> columns,
                   const std::vector<std::string>& names, const std::string& path) {
  const Counted counted = count_numbers(columns);
  const std::string asked = out.task;
  const bool numbers = counted.others == 0;
  if (out.task == "auto") out.task = task_of(columns, names, counted, path);
  out.targets = names;
  out.problem.loss = &find_loss(out.task);
  check_responses(columns, names, out.task, path);
  if (out.task != "binomial" && out.task != "multinomial") {
    set_numbers(out, columns, names, path);
    out.outputs = names;
    note_two_values(out, asked);
    return;
  }
  if (numbers) {
    for (std::string& text : columns.front()) {
      double number = 0;
      io::parse_number(text, number);
      text = label_of(number);
    }
  }
  set_classes(out, columns.front(), names.front(), path);
}

}  // namespace hewn::convex
