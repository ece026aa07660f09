#include "cli/usage/report.h"

#include <memory>

#include "cli/source.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

void check_report(const ReportFields& fields) {
  if (fields.batch < 0) throw Error(str("batch: expected 0 or more, got ", fields.batch));
  if (fields.threads < 0) throw Error(str("threads: expected 0 or more, got ", fields.threads));
  using io::SourceKind;
  for (const std::string& run : fields.runs) {
    source_kind("report", run, {SourceKind::kRun, SourceKind::kSweep, SourceKind::kFolder});
  }
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
  command.options.add("threads", fields->threads,
                      "CPU threads for that; one is timed by its CPU time; 0: all cores, by the wall clock");
  command.options.add("json", fields->json, "print what the page shows as JSON instead");
  command.options.add("o", fields->old_out, "old spelling of --out");
  command.run = [fields](const Given& given) {
    check_report(*fields);
    return run_report(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
