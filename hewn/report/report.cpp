#include "hewn/report/report.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/core/version.h"
#include "hewn/measure/processor.h"
#include "hewn/report/comparison.h"
#include "hewn/report/latency.h"

namespace hewn::report {
namespace {

constexpr size_t kFewRuns = 4;
constexpr size_t kPoints = 1000;
constexpr size_t kLeastPoints = 60;
constexpr int64_t kCells = 1 << 20;  // of all runs together: 1.4 MB

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

Detail detail_for(size_t runs) {
  Detail detail;
  detail.points = std::max(kLeastPoints, kPoints * kFewRuns / std::max(runs, kFewRuns));
  detail.cells = runs <= kFewRuns ? kCells / static_cast<int64_t>(runs) : 0;
  return detail;
}

Json frame() {
  return {{"hewn", kVersion},
          {"made", utc_now()},
          {"processor", valid_utf8(measure::processor_name())},
          {"cores", std::thread::hardware_concurrency()}};
}

/// What was parsed is JSON, but a value in it may be of another type than it should be.
template <class Make>
auto checked(const run::Folder& run, const Make& make) {
  try {
    return make();
  } catch (const Json::exception& problem) {
    throw FormatError(run.path.string(),
                      str("config.json or summary.json is damaged (", problem.what(), ")"));
  }
}

}  // namespace

Json collect(const std::vector<std::string>& paths, const ReportOptions& options) {
  std::vector<RunView> runs;
  for (const run::Folder& folder : find_runs(paths)) {
    runs.push_back(checked(folder, [&] { return RunView(folder); }));
  }
  Json out = frame();
  out["live"] = false;
  Json rows = Json::array();
  const Detail detail = detail_for(runs.size());
  for (const RunView& run : runs) {
    if (options.progress)
      options.progress(static_cast<int64_t>(rows.size()), static_cast<int64_t>(runs.size()));
    rows.push_back(checked(run.folder(), [&] {
      Json row = run.to_json(detail);
      if (!options.latency) {
        row["latency"] = {{"missing", "not asked for"}};
      } else if (runs.size() > kFewRuns) {
        row["latency"] = {{"missing", "with many runs; a report of this one alone measures it"}};
      } else {
        row["latency"] = measure_latency(run, options.timing);
      }
      return row;
    }));
  }
  out["runs"] = std::move(rows);
  if (runs.size() > 1) out["comparison"] = compare_outcomes(outcomes(runs));
  out["failed"] = count_failed(paths);
  return out;
}

Json collect_live(const RunView& run) {
  Json out = frame();
  out["live"] = true;
  Json row = checked(run.folder(), [&] { return run.to_json({}); });
  row["latency"] = {{"missing", "not while it is watched; hewn report measures it"}};
  out["runs"] = Json::array({std::move(row)});
  return out;
}

}  // namespace hewn::report
