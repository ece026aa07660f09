#include "cli/usage/report.h"

#include <iostream>

#include "cli/table.h"
#include "cli/terminal.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/core/text.h"
#include "hewn/report/page.h"
#include "hewn/report/report.h"
#include "hewn/tensor/device.h"

namespace hewn::cli {
namespace {

/// Data for a page or for programs, by the suffix. What was spelled -o may be called anything.
bool writes_json(ReportFields& fields, const Given& given) {
  if (!given.contains("o")) return known_suffix("out", fields.out, {".html", ".json"}) == ".json";
  if (given.contains("out")) throw Error("out: was given as -o too");
  fields.out = fields.old_out;
  return false;
}

/// How fast a run is here, in a line, or why that is not told.
void print_latency(const Json& run) {
  const Json& latency = run["latency"];
  const std::string path = run["path"];
  if (latency.contains("withheld")) {
    std::cerr << "note: " << path << ": no speed-up is shown: " << latency["withheld"].get<std::string>()
              << '\n';
  }
  const bool pruned = run["headline"]["layers_pruned"] != 0;
  if (!pruned || !latency.contains("speedup") || latency["speedup"].is_null()) return;
  const int64_t threads = latency["threads"];
  std::cout << path << ": " << fixed(latency["speedup"], 2) << " times as fast as dense here, batch "
            << latency["batch"] << ", " << threads << (threads == 1 ? " thread\n" : " threads\n");
  if (latency.contains("beyond_products")) {
    std::cout << "note: that is " << latency["beyond_products"].get<std::string>() << '\n';
  }
}

}  // namespace

int run_report(ReportFields& fields, const Given& given) {
  const bool json_file = writes_json(fields, given);
  if (!fields.json && !json_file)
    report::live_page();  // says where this build has no page, before anything is measured
  tensor::set_threads(fields.threads);
  report::ReportOptions options;
  options.latency = fields.latency;
  options.timing.batch = fields.batch;
  Json data;
  {
    Terminal terminal(/*quiet=*/false);
    options.progress = [&](int64_t done, int64_t all) { terminal.on_work("measuring runs", done, all); };
    data = report::collect(fields.runs, options);
  }
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (fields.json) {
    std::cout << text << '\n';
    return 0;
  }
  const std::string page = json_file ? text + "\n" : report::page_with(data);
  write_file_atomically(fields.out, page);
  for (const Json& one : data["runs"]) {
    for (const Json& problem : one["problems"]) std::cerr << "note: " << problem.get<std::string>() << '\n';
    if (one["status"] != "finished") {
      std::cerr << "note: " << one["path"].get<std::string>() << ": " << one["status"].get<std::string>()
                << " after step " << one["step"] << " of " << one["steps"] << '\n';
    }
  }
  std::cout << fields.out << ": " << data["runs"].size() << (data["runs"].size() == 1 ? " run, " : " runs, ")
            << bytes_text(static_cast<int64_t>(page.size())) << '\n';
  for (const Json& one : data["runs"]) print_latency(one);
  return 0;
}

}  // namespace hewn::cli
