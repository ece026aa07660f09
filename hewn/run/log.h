#pragma once

#include <fstream>

#include "hewn/core/json.h"
#include "hewn/io/tensorboard.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"

namespace hewn::run {

/// Writes metrics.jsonl and TensorBoard's event files. A record's "step" is the number of the step it belongs
/// to; the first step is 1. Records hold no times, so that equal runs write equal files.
class RunLog final : public Observer {
 public:
  /// Keeps the records of the first `resumed_at` steps and continues behind them; without `evaluated` also
  /// behind the evaluation after the last of them, which is still to come.
  RunLog(const Folder& run, int64_t resumed_at, bool evaluated = true);

  void on_phase(int64_t step, prune::Phase phase) override;
  void on_progress(const Progress& progress) override;
  void on_evaluation(const Evaluation& evaluation) override;

 private:
  void write(const Json& record);

  std::ofstream lines_;
  io::EventWriter events_;
};

}  // namespace hewn::run
