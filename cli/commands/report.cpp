#include "hewn/report/report.h"

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/source.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/core/text.h"
#include "hewn/report/page.h"
#include "hewn/tensor/device.h"

namespace hewn::cli {
namespace {

struct ReportFields {
  std::vector<std::string> runs;
  std::string out = "report.html";
  std::string old_out;
  bool latency = true;
  int64_t batch = 0;
  int64_t threads = 0;
  bool json = false;
};

/// Data for a page or for programs, by the suffix. What was spelled -o may be called anything.
bool writes_json(ReportFields& fields, const Given& given) {
  if (!given.contains("o")) return known_suffix("out", fields.out, {".html", ".json"}) == ".json";
  if (given.contains("out")) throw Error("out: was given as -o too");
  fields.out = fields.old_out;
  return false;
}

int run_report(ReportFields fields, const Given& given) {
  if (fields.batch < 0) throw Error(str("batch: expected 0 or more, got ", fields.batch));
  if (fields.threads < 0) throw Error(str("threads: expected 0 or more, got ", fields.threads));
  const bool json_file = writes_json(fields, given);
  using io::SourceKind;
  for (const std::string& run : fields.runs) {
    source_kind("report", run, {SourceKind::kRun, SourceKind::kSweep, SourceKind::kFolder});
  }
  if (!fields.json && !json_file)
    report::live_page();  // says where this build has no page, before anything is measured
  tensor::set_threads(fields.threads);
  report::ReportOptions options;
  options.latency = fields.latency;
  options.timing.batch = fields.batch;
  const Json data = report::collect(fields.runs, options);
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
  return 0;
}

}  // namespace

Command report_command() {
  const auto fields = std::make_shared<ReportFields>();
  Command command;
  command.name = "report";
  command.help = "make a page of one or more runs: what was pruned, what it cost and what it bought";
  command.example = "hewn report runs/fashion-mnist-mlp-auto-b16-s0.9-seed0 --out report.html";
  command.positionals = {{"RUN", "run folders, or folders that hold some", nullptr, true, &fields->runs}};
  command.options.add("out", fields->out, "file to write: .html, or .json for what the page shows");
  command.options.add("latency", fields->latency, "measure how fast the networks are on this machine");
  command.options.add("batch", fields->batch,
                      "samples at a time when latency is measured; 0: as many as fit");
  command.options.add("threads", fields->threads, "CPU threads for that; 0: all cores");
  command.options.add("json", fields->json, "print what the page shows as JSON instead");
  command.options.add("o", fields->old_out, "old spelling of --out");
  command.run = [fields](const Given& given) { return run_report(*fields, given); };
  return command;
}

}  // namespace hewn::cli
