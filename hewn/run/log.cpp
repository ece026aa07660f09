#include "hewn/run/log.h"

#include <string>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::run {
namespace {

/// Drops records behind `step` and a line that a crash left torn.
void keep_records(const std::filesystem::path& path, int64_t step) {
  if (!std::filesystem::exists(path)) return;
  const std::string content = read_file(path);
  std::string kept;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = content.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = content.substr(begin, end - begin + 1);
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("step") && record["step"].is_number_integer() &&
        record["step"].get<int64_t>() <= step) {
      kept += line;
    }
    begin = end + 1;
  }
  write_file_atomically(path, kept);
}

}  // namespace

RunLog::RunLog(const Folder& run, int64_t resumed_at) : events_(run.events(), resumed_at) {
  keep_records(run.metrics(), resumed_at);
  lines_.open(run.metrics(), std::ios::app);
  if (!lines_) throw Error(str(run.metrics().string(), ": cannot be written"));
}

void RunLog::write(const Json& record) {
  lines_ << record.dump() << '\n';
  lines_.flush();
  if (!lines_) throw Error("metrics.jsonl: cannot be written (is the disk full?)");
}

void RunLog::on_phase(int64_t step, prune::Phase phase) {
  write({{"step", step}, {"event", "phase"}, {"phase", prune::name_of(phase)}});
}

void RunLog::on_progress(const Progress& progress) {
  Json active = Json::object();
  std::vector<std::pair<std::string, double>> scalars = {
      {"train/loss", progress.loss}, {"train/lr", progress.lr}, {"prune/active", progress.active_fraction}};
  if (progress.accuracy) scalars.insert(scalars.begin() + 1, {"train/accuracy", *progress.accuracy});
  for (const auto& [layer, fraction] : progress.active) {
    active[layer] = fraction;
    scalars.emplace_back("prune/active/" + layer, fraction);
  }
  Json record = {{"step", progress.step},
                 {"event", "train"},
                 {"epoch", progress.epoch},
                 {"phase", prune::name_of(progress.phase)},
                 {"loss", progress.loss}};
  if (progress.accuracy) record["accuracy"] = *progress.accuracy;
  record["lr"] = progress.lr;
  record["active"] = active;
  write(record);
  events_.scalars(progress.step, scalars);
  events_.flush();
}

void RunLog::on_evaluation(int64_t step, const Metrics& metrics) {
  write({{"step", step}, {"event", "test"}, {"metrics", metrics}});
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [name, value] : metrics) scalars.emplace_back("test/" + name, value);
  events_.scalars(step, scalars);
  events_.flush();
}

}  // namespace hewn::run
