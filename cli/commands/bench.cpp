#include "cli/commands/bench.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/run/options.h"

namespace hewn::cli {
namespace {

constexpr int64_t kMostThreads = 1024;  // what the runtime takes

}  // namespace

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

namespace {

std::vector<Kind> kinds() {
  std::vector<Kind> rows = layer_kinds();
  for (const Kind& kind : network_kinds()) rows.push_back(kind);
  return rows;
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

/// Every combination of the listed values, the last option changing fastest.
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

std::string text_of(const Json& value) {
  return value.is_string() ? plain_text(value.get<std::string>()) : value.dump();
}

/// One column of a row: header, text, and whether it is aligned to the right.
struct Cell {
  std::string header;
  std::string text;
  bool right = true;
};

std::vector<Cell> cells_of(const Kind& kind, const Json& result, const std::string& product) {
  const bool forward = product == "forward";
  const Json& part = forward ? result : result[product];
  const auto optional = [&](const char* key) { return result.contains(key) ? result[key] : Json("-"); };
  const auto share = [](const Json& value) {
    return value.is_null() ? "never" : value.is_number() ? percent(value) : "-";
  };
  std::vector<Cell> out;
  for (const std::string& column : kind.columns) out.push_back({column, text_of(result[column])});
  out.push_back({"block", text_of(optional("block"))});
  out.push_back({"sparsity", share(optional("sparsity"))});
  out.push_back({"threads", text_of(result["threads"])});
  if (kind.products) out.push_back({"product", product, false});
  out.push_back({"dense ms", fixed(part["dense_ms"], 3)});
  out.push_back({"sparse ms", fixed(part["sparse_ms"], 3)});
  out.push_back({"speed-up", fixed(part["speedup"], 2) + " x"});
  out.push_back({"of ideal", percent(part["fraction_of_ideal"])});
  if (kind.products) {
    const bool row_major = part.contains("sparse_rowmajor_ms");
    out.push_back({"row-major ms", row_major ? fixed(part["sparse_rowmajor_ms"], 3) : "-"});
    out.push_back({"break-even", forward ? share(optional("break_even_sparsity")) : "-"});
  }
  out.push_back({"fastest dense", text_of(part["dense_baseline"]), false});
  return out;
}

void print_rows(const Kind& kind, const std::vector<Json>& results) {
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  for (const Json& result : results) {
    for (const char* product : {"forward", "grad_input", "grad_weight"}) {
      const bool forward = std::string_view(product) == "forward";
      if (!forward && !result.contains(product)) continue;
      rows.emplace_back();
      for (const Cell& cell : cells_of(kind, result, product)) {
        rows.back().push_back(cell.text);
        if (rows.size() > 2) continue;
        rows.front().push_back(cell.header);
        right.push_back(cell.right);
      }
    }
  }
  print_table(std::cout, rows, right);
}

int run(BenchFields fields, Given given) {
  const std::vector<Kind> rows = kinds();
  const Kind& kind = find_row(rows, fields.kind, "bench");
  if (!fields.source.empty()) {
    if (given.contains("file")) throw Error(str("file: was given as ", fields.source, " too"));
    if (kind.name != "file") throw Error(str(fields.source, ": a file goes with hewn bench file"));
    given["file"] = fields.texts["file"] = fields.source;
  }
  for (const auto& [key, text] : given) {
    const bool read = std::any_of(kind.options.begin(), kind.options.end(),
                                  [&wanted = key](const KindOption& option) { return option.key == wanted; });
    const bool unread_flag = !kind.products && (key == "gradients" || key == "break-even");
    if ((fields.texts.contains(key) && !read) || unread_flag)
      throw Error(str(key, ": means nothing for ", kind.name));
  }
  if (fields.rounds < 1) throw Error(str("rounds: expected at least 1, got ", fields.rounds));
  std::vector<Job> jobs;
  for (const Values& point : combinations(kind, fields)) jobs.push_back(kind.prepare(point, fields));
  std::vector<Json> results;
  for (const Job& job : jobs) results.push_back(job());
  if (!fields.json) {
    print_rows(kind, results);
  } else {
    std::cout << (results.size() == 1 ? results[0] : Json(results)).dump() << '\n';
  }
  return 0;
}

}  // namespace

Command bench_command() {
  const auto fields = std::make_shared<BenchFields>();
  Command command;
  command.name = "bench";
  command.help = "time block-sparse layers and networks against the fastest dense ones on this machine";
  command.example = "hewn bench linear --batch 1,256 --block 8,16,32 --sparsity 0.8,0.9";
  command.positionals = {
      {"KIND", "what to time: linear, conv, model or file", &fields->kind},
      {"SOURCE", "with kind file: exported network, a model.hewn", &fields->source, false}};
  run::Options training;
  const OptionTable rows = run::describe(training);
  const auto add = [&](const std::string& key, const std::string& help) {
    fields->texts[key] = "auto";
    command.options.add(key, fields->texts[key], help);
  };
  const auto help_of = [&](const std::string& key) { return rows.find(key, "bench").help; };
  const std::string several = "; several with commas between";
  add("batch", "samples" + several);
  add("in", "input features or channels" + several);
  add("out", "output features or channels" + several);
  add("size", "height and width of conv's input" + several);
  add("kernel", "height and width of conv's kernel" + several);
  add("stride", "of conv" + several);
  add("padding", "of conv" + several);
  for (const char* key : {"block", "sparsity", "threads"}) add(key, help_of(key) + several);
  for (const char* key : {"model", "data", "widths", "width", "min-blocks"}) add(key, help_of(key));
  add("file", "old spelling of SOURCE");
  command.options.add("rounds", fields->rounds, "times that each way has its turn");
  command.options.add("seed", fields->seed, "of patterns and numbers");
  command.options.add("gradients", fields->gradients, "time the input and weight gradients too");
  command.options.add("break-even", fields->break_even, "find the sparsity from which sparse is faster");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run(*fields, given); };
  return command;
}

}  // namespace hewn::cli
