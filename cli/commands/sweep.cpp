#include "hewn/sweep/spec.h"

#include <csignal>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/commands/sweep_progress.h"
#include "cli/commands/sweep_rules.h"
#include "cli/source.h"
#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/sweep/tables.h"
#include "hewn/tensor/device.h"

namespace hewn::cli {
namespace {

struct SweepFields {
  std::string file;
  std::string size;
  std::string out;
  std::string results;
  std::string data;
  std::string device = "cpu";
  int64_t workers = 1;
  int64_t threads = 0;
  bool retry = false;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
};

std::atomic<int> stop_signal = 0;

/// The first signal ends the sweep in order, a second one at once.
void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { stop_signal = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);  // nohup stays in force
  }
}

struct Sweep {
  sweep::Spec spec;
  std::vector<sweep::Run> runs;
};

Sweep read(const sweep::SweepFile& file, const sweep::Options& given) {
  const sweep::TrainRules rules = train_rules();
  Sweep out;
  out.spec = sweep::read_spec(file, given, rules);
  out.runs = sweep::expand(out.spec, rules);
  choose_metric(out.spec, out.runs);
  return out;
}

void print_plan(const Sweep& sweep, const sweep::Folder& folder, bool json) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {{"run", "state"}};
  for (const sweep::Run& run : sweep.runs) {
    const std::string state(sweep::name_of(folder.state(run.name)));
    list.push_back({{"name", run.name}, {"state", state}, {"options", run.options}});
    rows.push_back({run.name, state});
  }
  if (json) {
    std::cout << list.dump() << '\n';
    return;
  }
  print_table(std::cout, rows, {false, false});
  std::cout << '\n' << sweep.runs.size() << " runs\n";
}

void print_results(const Sweep& sweep, const sweep::Results& results, const sweep::Folder& folder,
                   bool json) {
  if (json) {
    std::cout << sweep::json_results(sweep.spec, sweep.runs, results).dump() << '\n';
    return;
  }
  std::cout << sweep::markdown_table(sweep.spec, sweep.runs, results) << "\nin " << folder.path.string()
            << ": table.md, results.csv, results.json\n";
}

/// Writes what the sweep is before the first run, so that it can be continued from any moment on.
void begin(const Sweep& sweep, const sweep::Folder& folder, const sweep::Options& given,
           const std::string& text) {
  Json record = sweep::record_of(sweep.spec, given, sweep.runs);
  if (std::filesystem::exists(folder.record())) {
    record =
        sweep::continued(sweep::read_record(folder.record()), record, sweep.spec, folder.path, train_rules());
  }
  write_file_atomically(folder.file(), text);
  write_file_atomically(folder.record(), record.dump(2) + "\n");
}

sweep::QueueOptions queue_options(const sweep::Spec& spec) {
  const sweep::SweepOptions& given = spec.options;
  sweep::QueueOptions out;
  out.workers = given.workers;
  out.threads =
      given.threads > 0 ? given.threads : std::max<int64_t>(1, tensor::usable_cores() / given.workers);
  out.devices = split(given.device, ',');
  try {
    for (const std::string& device : out.devices) tensor::find_device(device);
  } catch (const Error& error) {
    if (spec.lines.contains("device")) sweep::reject_line(spec.lines.at("device"), error.what());
    throw;
  }
  return out;
}

/// The file of a sweep as it was at its last start.
sweep::SweepFile recorded_file(const sweep::Folder& folder, const Json& record) {
  sweep::SweepFile file = sweep::sweep_file(read_file(folder.file()), folder.file().string());
  const auto text = [&](const char* key, const std::string& otherwise) {
    const Json value = record.value(key, Json());
    return value.is_string() ? value.get<std::string>() : otherwise;
  };
  file.path = text("file", "sweep.toml");
  file.name = text("name", std::filesystem::path(file.path).stem().string());
  file.size = text("size", "");
  return file;
}

int rewrite_tables(const SweepFields& fields) {
  const sweep::Folder folder{fields.results};
  source_kind("sweep --results", fields.results, {io::SourceKind::kSweep});
  const FileLock lock(folder.lock());
  const Json record = sweep::read_record(folder.record());
  sweep::Options given;
  const Json before = record.value("given", Json::object());
  for (const auto& [key, text] : before.items()) {
    if (!text.is_string())
      throw FormatError(folder.record().string(), str("given: ", key, ": expected a text"));
    given[key] = text.get<std::string>();
  }
  const Sweep sweep = read(recorded_file(folder, record), given);
  const sweep::Results results = sweep::collect(sweep.spec, sweep.runs, folder);
  sweep::write_tables(sweep.spec, sweep.runs, results, folder);
  print_results(sweep, results, folder, fields.json);
  return 0;
}

int run_sweep(const SweepFields& fields, const Given& all) {
  if (!fields.results.empty()) {
    if (!fields.file.empty()) throw Error("--results: takes the folder of a sweep and no FILE");
    return rewrite_tables(fields);
  }
  if (fields.file.empty()) throw Error("sweep: expected a FILE; see hewn sweep --help");
  sweep::Options given;
  for (const char* key : {"data", "device", "workers", "threads"}) {
    if (all.contains(key)) given[key] = all.at(key);
  }
  source_kind("sweep", fields.file, {io::SourceKind::kUnknown}, "a file such as configs/paper has");
  const sweep::SweepFile file = sweep::sweep_file(read_file(fields.file), fields.file, fields.size);
  const Sweep sweep = read(file, given);
  const sweep::Folder folder{fields.out.empty() ? "sweeps/" + file.name : fields.out};
  if (fields.dry_run) {
    print_plan(sweep, folder, fields.json);
    return 0;
  }
  const sweep::QueueOptions options = queue_options(sweep.spec);
  make_writable_folder(folder.path);
  const FileLock lock(folder.lock());
  begin(sweep, folder, given, file.text);
  folder.settle(sweep.runs);
  int64_t apart = 0;
  for (const sweep::Run& one : sweep.runs) {
    if (folder.state(one.name) != sweep::State::kFailed) continue;
    ++apart;
    if (fields.retry) folder.take_back(one.name);
  }
  stop_on_signals();
  SweepProgress progress(sweep.spec, sweep.runs, folder, fields.quiet);
  if (apart > 0 && !fields.retry) {
    progress.line(
        str(apart, " failed before and ", apart == 1 ? "is" : "are", " not tried again; --retry does"));
  }
  sweep::work(folder, sweep.runs, options, progress, stop_signal);
  if (stop_signal != 0) {
    progress.line("stopped; the same command goes on from here");
    return 128 + stop_signal;
  }
  progress.wipe();
  print_results(sweep, progress.results(), folder, fields.json);
  return progress.results().count(sweep::State::kFailed) > 0 ? 1 : 0;
}

}  // namespace

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
  command.options.add("retry", fields->retry, "go on with runs that failed before");
  command.options.add("dry-run", fields->dry_run, "list the runs and train nothing");
  command.options.add("quiet", fields->quiet, "show no progress");
  command.options.add("json", fields->json, "print the results as JSON");
  command.run = [fields](const Given& given) { return run_sweep(*fields, given); };
  return command;
}

}  // namespace hewn::cli
