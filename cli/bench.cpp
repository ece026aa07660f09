#include <iostream>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/table.h"
#include "hewn/kernels/tile.h"
#include "hewn/measure/compare.h"
#include "hewn/measure/conv.h"
#include "hewn/measure/linear.h"
#include "hewn/train/setup.h"

namespace hewn::cli {
namespace {

/// Option -> text: one point of the product of all lists.
using Values = std::map<std::string, std::string>;

/// Options as they were given; those with lists are still one text.
struct Fields {
  std::string kind;
  Values lists;
  int64_t rounds = 15;
  int64_t seed = 0;
  bool gradients = false;
  bool break_even = false;
  bool json = false;
};

/// A measurement that is ready to run: everything that can be wrong with its options has been said.
using Job = std::function<Json()>;

/// What can be measured. `options` are the lists it reads, with their defaults; points follow their order.
struct Kind {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
  Job (*prepare)(const Values&, const Fields&);
  std::vector<std::string> columns;  // of the table, beside those that all have
};

int64_t number(const Values& values, const std::string& key) {
  int64_t value = 0;
  parse_value(key, values.at(key), value);
  return value;
}

Json measure_layer(const measure::Layer& layer, const measure::Point& point, int64_t threads,
                   const Fields& fields) {
  using measure::Product;
  const int64_t used = train::set_threads(threads);
  const auto compare = [&](Product product) {
    return measure::to_json(measure::compare(layer, product, point, fields.rounds));
  };
  Json out = {{"block", to_string(point.block)},
              {"sparsity", point.sparsity},
              {"threads", used},
              {"clock", measure::to_string(measure::clock_for(used))},
              {"instructions", kernels::machine().name},
              {"rounds", fields.rounds}};
  out.update(compare(Product::kForward));
  if (fields.gradients) {
    out["grad_input"] = compare(Product::kGradInput);
    out["grad_weight"] = compare(Product::kGradWeight);
  }
  if (fields.break_even) {
    const auto sparsity = measure::break_even(layer, point.block, fields.rounds);
    out["break_even_sparsity"] = sparsity ? Json(*sparsity) : Json(nullptr);
  }
  return out;
}

/// The part that Linear and Conv2d layers share: the shape is checked, the layer made when the job runs.
template <class L, class Shape>
Job layer_job(const Values& values, const Fields& fields, const Shape& shape, const Grid& grid,
              const Json& head) {
  measure::check_shape(shape);
  measure::Point point{parse_block(values.at("block")), 0};
  parse_value("sparsity", values.at("sparsity"), point.sparsity);
  measure::check_point(grid, point);
  const int64_t threads = number(values, "threads");
  if (threads < 0) throw Error(str("threads: expected 0 or more, got ", threads));
  return [=] {
    Json out = head;
    out.update(measure_layer(L(shape, static_cast<uint64_t>(fields.seed)), point, threads, fields));
    return out;
  };
}

Job linear_job(const Values& values, const Fields& fields) {
  const measure::LinearShape shape{number(values, "batch"), number(values, "in"), number(values, "out")};
  return layer_job<measure::Linear>(
      values, fields, shape, {shape.in, shape.out, {}},
      {{"kind", "linear"}, {"batch", shape.batch}, {"in", shape.in}, {"out", shape.out}});
}

Job conv_job(const Values& values, const Fields& fields) {
  const int64_t size = number(values, "size");
  const int64_t kernel = number(values, "kernel");
  const measure::Conv2dShape shape{number(values, "batch"),
                                   number(values, "in"),
                                   number(values, "out"),
                                   size,
                                   size,
                                   {kernel, kernel, number(values, "stride"), number(values, "padding"), 1}};
  return layer_job<measure::Conv2d>(values, fields, shape, {shape.in * shape.geometry.taps(), shape.out, {}},
                                    {{"kind", "conv"},
                                     {"batch", shape.batch},
                                     {"in", shape.in},
                                     {"out", shape.out},
                                     {"size", size},
                                     {"kernel", kernel},
                                     {"stride", shape.geometry.stride},
                                     {"padding", shape.geometry.padding}});
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kRows = {
      {"linear",
       {{"threads", "1"},
        {"batch", "256"},
        {"in", "1024"},
        {"out", "1024"},
        {"block", "16"},
        {"sparsity", "0.9"}},
       linear_job,
       {"batch", "in", "out"}},
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
       conv_job,
       {"batch", "in", "out", "size", "kernel", "stride"}},
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

/// Every combination of the listed values, the last option changing fastest.
std::vector<Values> combinations(const Kind& kind, const Fields& fields) {
  std::vector<Values> points(1);
  for (const auto& [key, usual] : kind.options) {
    const std::string& given = fields.lists.at(key);
    std::vector<Values> longer;
    for (const Values& point : points) {
      for (const std::string& item : split(key, given == "auto" ? usual : given)) {
        longer.push_back(point);
        longer.back()[key] = item;
      }
    }
    points = std::move(longer);
  }
  return points;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void print_rows(const Kind& kind, const std::vector<Json>& results) {
  std::vector<std::vector<std::string>> rows(1);
  std::vector<bool> right;
  rows[0] = kind.columns;
  for (const char* column : {"block", "sparsity", "threads", "product", "dense ms", "sparse ms", "speed-up",
                             "of ideal", "row-major ms", "break-even", "fastest dense"}) {
    rows[0].emplace_back(column);
  }
  right.assign(rows[0].size(), true);
  right.back() = false;
  right[kind.columns.size() + 3] = false;
  for (const Json& result : results) {
    for (const char* product : {"", "grad_input", "grad_weight"}) {
      const bool forward = *product == '\0';
      if (!forward && !result.contains(product)) continue;
      const Json& part = forward ? result : result[product];
      std::vector<std::string> row;
      for (const std::string& column : kind.columns) row.push_back(text_of(result[column]));
      const Json even = forward ? result.value("break_even_sparsity", Json("-")) : Json("-");
      for (const std::string& cell :
           {text_of(result["block"]), percent(result["sparsity"]), text_of(result["threads"]),
            std::string(forward ? "forward" : product), fixed(part["dense_ms"], 3),
            fixed(part["sparse_ms"], 3), fixed(part["speedup"], 2) + " x", percent(part["fraction_of_ideal"]),
            part.contains("sparse_rowmajor_ms") ? fixed(part["sparse_rowmajor_ms"], 3) : "-",
            even.is_null()     ? "never"
            : even.is_number() ? percent(even)
                               : "-",
            text_of(part["dense_baseline"])}) {
        row.push_back(cell);
      }
      rows.push_back(std::move(row));
    }
  }
  print_table(std::cout, rows, right);
}

int run(const Fields& fields, const Given& given) {
  const Kind& kind = find_row(kinds(), fields.kind, "bench");
  for (const auto& [key, text] : given) {
    const bool read = std::any_of(kind.options.begin(), kind.options.end(),
                                  [&](const auto& option) { return option.first == key; });
    if (fields.lists.contains(key) && !read) throw Error(str(key, ": means nothing for ", kind.name));
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
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "bench";
  command.help = "time block-sparse layers against the fastest dense ones on this machine";
  command.example = "hewn bench linear --batch 1,256 --block 8,16,32 --sparsity 0.8,0.9";
  command.positionals = {{"KIND", "what to time: linear or conv", &fields->kind}};
  const std::vector<std::pair<std::string, std::string>> lists = {
      {"batch", "samples"},
      {"in", "input features or channels"},
      {"out", "output features or channels"},
      {"size", "height and width of conv's input"},
      {"kernel", "height and width of conv's kernel"},
      {"stride", "of conv"},
      {"padding", "of conv"},
      {"block", "block sizes, B or RxC"},
      {"sparsity", "fractions of blocks to drop, in [0, 1)"},
      {"threads", "CPU threads; 0: all cores"}};
  for (const auto& [key, help] : lists) {
    fields->lists[key] = "auto";
    command.options.add(key, fields->lists[key], help + "; several with commas between");
  }
  command.options.add("rounds", fields->rounds, "times that each way has its turn");
  command.options.add("seed", fields->seed, "of patterns and numbers");
  command.options.add("gradients", fields->gradients, "time the input and weight gradients too");
  command.options.add("break-even", fields->break_even, "find the sparsity from which sparse is faster");
  command.options.add("json", fields->json, "print JSON");
  command.run = [fields](const Given& given) { return run(*fields, given); };
  return command;
}

}  // namespace hewn::cli
