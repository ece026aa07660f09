#include "hewn/data/tables/answers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hewn/convex/dataset/responses.h"
#include "hewn/core/error.h"
#include "hewn/io/csv.h"

namespace hewn::data {
namespace {

[[noreturn]] void reject_answer(const Cells& cells, int64_t row, const std::string& problem) {
  throw FormatError(cells.where, str(cells.place(row), ", column \"", cells.target, "\": ", problem));
}

bool is_number(const std::string& text) {
  double unused = 0;
  return io::parse_number(text, unused);
}

void check_answers(const Cells& cells) {
  if (cells.target.empty()) throw FormatError(cells.where, "has no column with the target");
  const auto missing = std::find_if(cells.answers.begin(), cells.answers.end(), io::is_missing);
  if (missing != cells.answers.end()) {
    reject_answer(cells, missing - cells.answers.begin(), "the target is missing");
  }
}

/// Where classes are numbers, one text for each, however it is written.
std::vector<std::string> labels_of(const Cells& cells, const std::vector<std::string>& classes) {
  check_answers(cells);
  std::vector<std::string> out = cells.answers;
  if (!std::all_of(classes.begin(), classes.end(), is_number)) return out;
  for (std::string& text : out) {
    double number = 0;
    if (io::parse_number(text, number)) text = convex::label_of(number);
  }
  return out;
}

}  // namespace

bool is_classification(const Cells& cells, const std::string& task) {
  check_answers(cells);
  if (task != "auto") return task == "classification";
  const auto numbers = std::count_if(cells.answers.begin(), cells.answers.end(), is_number);
  if (numbers == 0) return true;
  if (numbers == cells.rows) return false;
  const bool mostly = 2 * numbers > cells.rows;
  const auto odd = std::find_if(cells.answers.begin(), cells.answers.end(),
                                [&](const std::string& text) { return is_number(text) != mostly; });
  reject_answer(cells, odd - cells.answers.begin(),
                str("expected ", mostly ? "a number" : "text", " as in most rows, got \"", *odd,
                    "\"; give task classification where these are classes"));
}

std::vector<std::string> classes_of(const Cells& cells) {
  const std::vector<std::string> labels = labels_of(cells, cells.answers);
  std::vector<std::string> out = convex::distinct_labels(labels);
  const std::string column = str("column \"", cells.target, "\" has ");
  if (out.size() < 2) throw FormatError(cells.where, column + "one class only: \"" + out.front() + "\"");
  if (out.size() > convex::kMostClasses || out.size() == labels.size()) {
    throw FormatError(cells.where,
                      str(column, out.size(), " distinct values in ", labels.size(), " rows, expected 2 to ",
                          convex::kMostClasses, " classes; for numbers give task regression"));
  }
  if (!std::all_of(out.begin(), out.end(), is_number)) return out;
  for (size_t row = 0; row < labels.size(); ++row) {
    double number = 0;
    io::parse_number(labels[row], number);
    if (number == std::floor(number)) continue;
    reject_answer(cells, static_cast<int64_t>(row),
                  str("expected text or a whole number as a class, got ", labels[row],
                      "; for numbers give task regression"));
  }
  return out;
}

std::vector<double> numbers_in(const Cells& cells) {
  check_answers(cells);
  std::vector<double> out(cells.answers.size());
  for (size_t row = 0; row < out.size(); ++row) {
    if (io::parse_number(cells.answers[row], out[row])) continue;
    reject_answer(cells, static_cast<int64_t>(row),
                  str("expected a number for regression, got \"", cells.answers[row], "\""));
  }
  return out;
}

std::vector<int64_t> encoded_classes(const Cells& cells, const TableEncoding& encoding) {
  std::map<std::string, int64_t> number_of;
  for (const std::string& name : encoding.classes)
    number_of.emplace(name, static_cast<int64_t>(number_of.size()));
  const std::vector<std::string> labels = labels_of(cells, encoding.classes);
  std::vector<int64_t> out;
  for (size_t row = 0; row < labels.size(); ++row) {
    const auto found = number_of.find(labels[row]);
    if (found == number_of.end()) {
      reject_answer(cells, static_cast<int64_t>(row),
                    str("\"", labels[row], "\" is none of the ", encoding.classes.size(), " classes"));
    }
    out.push_back(found->second);
  }
  return out;
}

std::vector<float> encoded_numbers(const Cells& cells, const TableEncoding& encoding) {
  std::vector<float> out;
  for (const double number : numbers_in(cells))
    out.push_back(static_cast<float>((number - encoding.target_mean) / encoding.target_scale));
  return out;
}

}  // namespace hewn::data
