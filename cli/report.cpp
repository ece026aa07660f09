#include "hewn/report/report.h"

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/report/page.h"
#include "hewn/train/setup.h"

namespace hewn::cli {
namespace {

struct Fields {
  std::vector<std::string> runs;
  std::string out = "report.html";
  bool no_latency = false;
  int64_t batch = 0;
  int64_t threads = 0;
  bool json = false;
};

int run(const Fields& fields) {
  if (fields.batch < 0) throw Error(str("batch: expected 0 or more, got ", fields.batch));
  if (fields.threads < 0) throw Error(str("threads: expected 0 or more, got ", fields.threads));
  if (!fields.json) report::live_page();  // says where this build has no page, before anything is measured
  train::set_threads(fields.threads);
  report::ReportOptions options;
  options.latency = !fields.no_latency;
  options.timing.batch = fields.batch;
  const Json data = report::collect(fields.runs, options);
  if (fields.json) {
    std::cout << data.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  const std::string page = report::page_with(data);
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
  return 0;
}

}  // namespace

Command report_command() {
  const auto fields = std::make_shared<Fields>();
  Command command;
  command.name = "report";
  command.help = "make a page of one or more runs: what was pruned, what it cost and what it bought";
  command.example = "hewn report runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 -o report.html";
  command.positionals = {{"RUN", "run folders, or folders that hold some", nullptr, true, &fields->runs}};
  command.options.add("o", fields->out, "the HTML file to write");
  command.options.add("no-latency", fields->no_latency, "measure nothing on this machine");
  command.options.add("batch", fields->batch,
                      "samples at a time when latency is measured; 0: as many as fit");
  command.options.add("threads", fields->threads, "CPU threads for that; 0: all cores");
  command.options.add("json", fields->json, "print what the page shows as JSON instead");
  command.run = [fields](const Given&) { return run(*fields); };
  return command;
}

}  // namespace hewn::cli
