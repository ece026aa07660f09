#include <algorithm>

#include "cli/source.h"
#include "cli/usage/bench.h"
#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/data/info.h"
#include "hewn/nn/signature.h"

namespace hewn::cli {
namespace {

constexpr int64_t kMostThreads = 1024;  // what the runtime takes

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kRows = {
      {"linear",
       {{"threads", "1"},
        {"batch", "256"},
        {"in", "1024"},
        {"out", "1024"},
        {"block", "16"},
        {"sparsity", "0.9"}},
       true},
      {"conv",
       {{"threads", "1"},
        {"batch", "24"},
        {"in", "256"},
        {"out", "256"},
        {"size", "14"},
        {"kernel", "3"},
        {"stride", "1"},
        {"padding", "1"},
        {"block", "16"},
        {"sparsity", "0.9"}},
       true},
      {"model",
       {{"model", "mlp", false},
        {"data", "", false},
        {"widths", "auto", false},
        {"width", "64", false},
        {"min-blocks", "100", false},
        {"device", "cpu", false},
        {"threads", "1"},
        {"batch", "256"},
        {"block", "16"},
        {"sparsity", "0.9"}}},
      {"file", {{"file", "", false}, {"device", "cpu", false}, {"threads", "1"}, {"batch", "256"}}},
  };
  return kRows;
}

std::vector<std::string> split(const std::string& key, const std::string& text) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    if (items.back().empty())
      throw Error(str(key, ": expected values with commas between, got \"", text, "\""));
    begin = end + 1;
  }
  return items;
}

/// Whether the value of that key is as large as it must be.
void check_size(const Values& values, const std::string& key, int64_t least) {
  const int64_t value = number(values, key);
  if (value < least) {
    throw Error(str(key, ": expected ", least == 0 ? "0 or more" : "at least 1", ", got ", value));
  }
}

void check_names(const std::string& key, const std::string& text) {
  if (key == "model") nn::usual_signature(text);
  if (key == "data" && !text.empty()) data::find_info(text);
  if (key != "file") return;
  if (text.empty()) throw Error("file: expected a model.hewn file, such as hewn export writes");
  source_kind("bench file", text, {io::SourceKind::kModel});
}

}  // namespace

const Kind& find_kind(const std::string& name) { return find_row(kinds(), name, "bench"); }

int64_t number(const Values& values, const std::string& key) {
  int64_t value = 0;
  parse_value(key, values.at(key), value);
  return value;
}

int64_t thread_count(const Values& values) {
  const int64_t threads = number(values, "threads");
  if (threads < 0 || threads > kMostThreads) {
    throw Error(str("threads: expected 0 to ", kMostThreads, ", got ", threads));
  }
  return threads;
}

std::vector<Values> combinations(const Kind& kind, const BenchFields& fields) {
  std::vector<Values> points(1);
  for (const auto& [key, usual, list] : kind.options) {
    const std::string& given = fields.texts.at(key);
    const std::string& text = given == "auto" ? usual : given;
    std::vector<Values> longer;
    for (const Values& point : points) {
      for (const std::string& item : list ? split(key, text) : std::vector{text}) {
        longer.push_back(point);
        longer.back()[key] = item;
      }
    }
    points = std::move(longer);
  }
  return points;
}

void check_point(const Values& values) {
  for (const auto& [key, text] : values) {
    check_names(key, text);
    for (const char* size : {"batch", "in", "out", "size", "kernel", "stride"}) {
      if (key == size) check_size(values, key, 1);
    }
    if (key == "padding") check_size(values, key, 0);
    if (key == "threads") thread_count(values);
    if (key == "min-blocks" || key == "width") number(values, key);
    if (key == "block") parse_block(text);
    std::vector<int64_t> widths;
    if (key == "widths" && text != "auto") parse_value(key, text, widths);
    if (key != "sparsity") continue;
    double sparsity = 0;
    parse_value(key, text, sparsity);
    if (!(sparsity >= 0 && sparsity < 1)) {
      throw Error(str("sparsity: expected a number in [0, 1), got ", sparsity));
    }
  }
}

}  // namespace hewn::cli
