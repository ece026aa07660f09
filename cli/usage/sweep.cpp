#include "cli/usage/sweep.h"

#include <memory>

#include "cli/source.h"
#include "cli/usage/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/sweep/expand.h"

namespace hewn::cli {
namespace {

// Seconds. A machine under load may well say nothing for some.
constexpr int64_t kLeastPatience = 5;
constexpr int64_t kMostPatience = 86400;

/// Says what is wrong as far as that is seen without building networks.
void check_sweep(const SweepFields& fields, const Given& all) {
  if (!fields.results.empty()) {
    if (!fields.file.empty()) throw Error("--results: takes the folder of a sweep and no FILE");
    source_kind("sweep --results", fields.results, {io::SourceKind::kSweep});
    return;
  }
  if (fields.file.empty()) throw Error("sweep: expected a FILE; see hewn sweep --help");
  for (const char* key : {"patience", "wait"}) {
    if (all.contains(key) && !fields.join)
      throw Error(str(key, ": is for sweeps that others join; add --join"));
  }
  if (fields.patience < kLeastPatience || fields.patience > kMostPatience) {
    throw Error(str("patience: expected ", kLeastPatience, " to ", kMostPatience, ", got ", fields.patience));
  }
  source_kind("sweep", fields.file, {io::SourceKind::kUnknown}, "a file such as configs/paper has");
  const sweep::TrainRules rules = option_rules();
  const sweep::SweepFile file = sweep::sweep_file(read_file(fields.file), fields.file, fields.size);
  sweep::expand(sweep::read_spec(file, sweep_given(all), rules), rules);
}

}  // namespace

std::map<std::string, std::string> sweep_given(const Given& all) {
  std::map<std::string, std::string> given;
  for (const char* key : {"data", "device", "workers", "threads"}) {
    if (all.contains(key)) given[key] = all.at(key);
  }
  return given;
}

Command sweep_command() {
  const auto fields = std::make_shared<SweepFields>();
  Command command;
  command.name = "sweep";
  command.help = "train all runs of a table and compare them";
  command.example = "hewn sweep configs/paper/ctr.toml --size small";
  command.positionals.push_back({"FILE", "what to run (docs/sweeps.md)", &fields->file, false});
  command.options.add("size", fields->size, "one of the sizes that the file names; default: its first");
  command.options.add(
      "out", fields->out,
      "folder of the sweep; default: sweeps/NAME OF FILE, with -SIZE behind it but for the first");
  command.options.add("results", fields->results, "write the tables of this folder anew and run nothing");
  command.options.add("data", fields->data, "data set, instead of the file's");
  command.options.add("device", fields->device,
                      "cpu, cuda or cuda:N, instead of the file's; several take turns");
  command.options.add("workers", fields->workers, "runs at a time, instead of the file's");
  command.options.add("threads", fields->threads, "CPU threads of each run; 0: all cores, shared");
  command.options.add("join", fields->join,
                      "work on it together with others that share the folder (docs/sweeps.md)");
  command.options.add("patience", fields->patience,
                      "with join: seconds of silence after which another takes over a run");
  command.options.add("wait", fields->wait, "with join: until the runs of others have ended too");
  command.options.add("retry", fields->retry, "go on with runs that failed before");
  command.options.add("dry-run", fields->dry_run, "list the runs and train nothing");
  command.options.add("quiet", fields->quiet, "show no progress");
  command.options.add("json", fields->json, "print the results as JSON");
  command.run = [fields](const Given& given) {
    check_sweep(*fields, given);
    return run_sweep(*fields, given);
  };
  return command;
}

}  // namespace hewn::cli
