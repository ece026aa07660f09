#include "cli/usage/sweep.h"

#include <iostream>

#include "cli/stop.h"
#include "cli/table.h"
#include "cli/torch/sweep_progress.h"
#include "cli/torch/sweep_record.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/sweep/join.h"
#include "hewn/sweep/spec.h"
#include "hewn/sweep/tables.h"
#include "hewn/tensor/device.h"

namespace hewn::cli {
namespace {

void print_plan(const Sweep& sweep, const sweep::Folder& folder, bool json) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows = {{"run", "state"}};
  for (const sweep::Run& run : sweep.runs) {
    const std::string state(sweep::name_of(folder.state(run.name)));
    list.push_back({{"name", run.name}, {"state", state}, {"options", run.options}});
    rows.push_back({run.name, state});
  }
  if (json) {
    std::cout << list.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  print_table(std::cout, rows, {false, false});
  std::cout << '\n' << sweep.runs.size() << " runs\n";
}

void print_results(const Sweep& sweep, const sweep::Results& results, bool json) {
  if (json) {
    std::cout << sweep::json_results(sweep.spec, sweep.runs, results)
                     .dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << sweep::markdown_table(sweep.spec, sweep.runs, results);
  }
}

void print_place(const sweep::Folder& folder) {
  std::cout << "\nin " << folder.path.string() << ": table.md, results.csv, results.json\n";
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

/// Refuses a folder that others have joined: the lock does not hold between machines.
void require_not_joined(const sweep::Folder& folder) {
  if (!is_there(folder.joined())) return;
  throw Error(str(folder.path.string(), ": this sweep was begun with --join; join it, or remove ",
                  folder.leases().string(), " once nobody works on it"));
}

sweep::Leases leases_of(const sweep::Folder& folder, const SweepFields& fields) {
  return {folder.leases(), sweep::Holder::self(), std::chrono::seconds(fields.patience)};
}

int rewrite_tables(const sweep::Folder& folder, bool json) {
  const Sweep sweep = recorded_sweep(folder);
  const sweep::Results results = sweep::collect(sweep.spec, sweep.runs, folder);
  sweep::write_tables(sweep.spec, sweep.runs, results, folder);
  print_results(sweep, results, json);
  if (!json) print_place(folder);
  return 0;
}

int rewrite_tables(const SweepFields& fields) {
  const sweep::Folder folder{fields.results};
  if (!is_there(folder.joined())) {
    const FileLock lock(folder.lock());
    return rewrite_tables(folder, fields.json);
  }
  stop_on_signals();
  const auto lease = leases_of(folder, fields).wait_for(sweep::kTablesLease, stop_signal);
  return lease ? rewrite_tables(folder, fields.json) : 128 + stop_signal;
}

int stopped(SweepProgress& progress) {
  progress.line("stopped; the same command goes on from here");
  return 128 + stop_signal;
}

int code_of(const sweep::Results& results) { return results.count(sweep::State::kFailed) > 0 ? 1 : 0; }

void tell_of_failed(int64_t failed, SweepProgress& progress) {
  if (failed == 0) return;
  progress.line(
      str(failed, " failed before and ", failed == 1 ? "is" : "are", " not tried again; --retry does"));
}

int work_alone(const Sweep& sweep, const sweep::Folder& folder, const SweepFields& fields,
               const sweep::QueueOptions& options) {
  folder.settle(sweep.runs);
  for (const sweep::Run& one : sweep.runs) {
    if (fields.retry && folder.state(one.name) == sweep::State::kFailed) folder.take_back(one.name);
  }
  stop_on_signals();
  SweepProgress progress(sweep.spec, sweep.runs, folder, {fields.quiet, false});
  tell_of_failed(progress.results().count(sweep::State::kFailed), progress);
  sweep::work(folder, sweep.runs, options, progress, stop_signal);
  if (stop_signal != 0) return stopped(progress);
  progress.wipe();
  print_results(sweep, progress.results(), fields.json);
  if (!fields.json) print_place(folder);
  return code_of(progress.results());
}

int work_joined(const Sweep& own, const sweep::Folder& folder, const SweepFields& fields,
                const sweep::Options& given, const std::string& text) {
  stop_on_signals();
  sweep::Leases leases = leases_of(folder, fields);
  const std::optional<Sweep> joined = begin_together(own, folder, given, text, leases, stop_signal);
  if (!joined) return 128 + stop_signal;
  const Sweep& sweep = *joined;
  sweep::QueueOptions options = queue_options(sweep.spec);
  options.wait = fields.wait;
  if (fields.retry) sweep::take_back_failed(folder, leases, sweep.runs);
  SweepProgress progress(sweep.spec, sweep.runs, folder, {fields.quiet, true});
  tell_of_failed(progress.results().count(sweep::State::kFailed), progress);
  const bool all = sweep::work_together(folder, leases, sweep.runs, options, progress, stop_signal);
  if (stop_signal != 0) return stopped(progress);
  progress.wipe();
  const sweep::Results results = sweep::publish(sweep.spec, sweep.runs, folder, leases, stop_signal);
  if (stop_signal != 0) return stopped(progress);
  if (!all) progress.line("nothing is left to begin; others still work on the rest");
  print_results(sweep, results, fields.json);
  if (all && !fields.json) print_place(folder);
  return code_of(results);
}

}  // namespace

int run_sweep(SweepFields& fields, const Given& all) {
  if (!fields.results.empty()) return rewrite_tables(fields);
  const sweep::Options given = sweep_given(all);
  const sweep::SweepFile file = sweep::sweep_file(read_file(fields.file), fields.file, fields.size);
  const Sweep sweep = read_sweep(file, given);
  const sweep::Folder folder{fields.out.empty() ? "sweeps/" + file.name : fields.out};
  if (fields.dry_run) {
    print_plan(sweep, folder, fields.json);
    return 0;
  }
  const sweep::QueueOptions options = queue_options(sweep.spec);
  make_writable_folder(folder.path);
  if (fields.join) return work_joined(sweep, folder, fields, given, file.text);
  const FileLock lock(folder.lock());
  require_not_joined(folder);
  begin(sweep, folder, given, file.text);
  return work_alone(sweep, folder, fields, options);
}

}  // namespace hewn::cli
