#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hewn/report/layers.h"
#include "hewn/report/metrics_log.h"
#include "hewn/run/folder.h"

namespace hewn::report {

enum class Status { kFinished, kRunning, kStopped };
std::string_view name_of(Status status);

/// How much of a run goes into a page.
struct Detail {
  size_t points = 1000;     // of a curve
  int64_t cells = 1 << 20;  // of all pictures of masks together; 0: none
};

/// A run folder as a page shows it. Reads only; follows a run that is being trained.
class RunView {
 public:
  /// Throws Error where the folder is no run or its config.json is damaged. What else is damaged is named in
  /// problems().
  explicit RunView(run::Folder run);

  /// Reads what is new. Whether there was anything.
  bool refresh();

  const run::Folder& folder() const { return run_; }
  std::string name() const;
  Status status() const { return status_; }
  const Json& config() const { return config_; }
  const Json& summary() const { return summary_; }  // null until the run is finished
  const MetricsLog& log() const { return log_; }
  int64_t steps() const { return steps_; }
  /// Its method by its true name; null where config.json does not say.
  Json method() const;
  int64_t dense_step() const { return dense_log_.step(); }  // of the dense run beside it
  const LayerFacts& layers() const { return layers_; }
  std::vector<std::string> problems() const;

  Json to_json(const Detail& detail) const;

 private:
  void read_layers();
  Json churn_json() const;
  Json headline() const;

  run::Folder run_;
  Json config_;
  Json summary_;
  int64_t steps_ = 0;
  Status status_ = Status::kStopped;
  MetricsLog log_;
  MetricsLog dense_log_;  // of --compare-dense
  std::vector<train::SupportRecord> records_;
  std::vector<std::filesystem::path> record_files_;
  LayerFacts layers_;
  std::vector<std::string> layer_problems_;
};

}  // namespace hewn::report
