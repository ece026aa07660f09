#include "hewn/run/log.h"

#include <string>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::run {
namespace {

/// Drops records behind `step` and a line that a crash left torn, and where `evaluated` does not hold the
/// evaluation after that step.
void keep_records(const std::filesystem::path& path, int64_t step, bool evaluated) {
  if (!is_there(path)) return;
  const std::string content = read_file(path);
  std::string kept;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = content.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = content.substr(begin, end - begin + 1);
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("step") && record["step"].is_number_integer() &&
        record["step"].get<int64_t>() <= step &&
        (evaluated || record["step"] != step || record.value("event", Json()) != "test")) {
      kept += line;
    }
    begin = end + 1;
  }
  write_file_atomically(path, kept);
}

}  // namespace

RunLog::RunLog(const Folder& run, int64_t resumed_at, bool evaluated) : events_(run.events(), resumed_at) {
  keep_records(run.metrics(), resumed_at, evaluated);
  if (is_there(run.metrics())) expect_file(run.metrics());
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

void RunLog::on_evaluation(const Evaluation& evaluation) {
  // The event is "test" whatever was evaluated; only what is not the test set is named.
  Json record = {{"step", evaluation.step}, {"event", "test"}, {"metrics", evaluation.metrics}};
  const std::string part(name_of(evaluation.part));
  if (evaluation.part != data::Part::kTest) record["part"] = part;
  write(record);
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [name, value] : evaluation.metrics) scalars.emplace_back(str(part, "/", name), value);
  events_.scalars(evaluation.step, scalars);
  events_.flush();
}

}  // namespace hewn::run
