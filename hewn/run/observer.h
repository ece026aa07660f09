#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hewn/data/plumbing/preparation.h"
#include "hewn/prune/schedule/schedule.h"
#include "hewn/run/metrics.h"

namespace hewn::run {

/// Where a run stands after `step` of `steps` steps.
struct Progress {
  int64_t step = 0;
  int64_t steps = 0;
  int64_t epoch = 0;
  prune::Phase phase = prune::Phase::kDense;
  double loss = 0;                      // mean since the last report
  std::optional<double> accuracy = {};  // on training batches since then, in percent; none of numbers
  double lr = 0;
  std::vector<std::pair<std::string, double>> active;  // layer -> active fraction of its blocks
  double active_fraction = 1;                          // over all pruned layers
  double seconds = 0;                                  // since the run began
};

/// Hears what a run does. The loop itself prints nothing and writes no log.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Something the user should know: a choice made, a damaged file skipped.
  virtual void on_message(const std::string& /*text*/) {}
  /// Data are being made ready, now and then.
  virtual void on_preparation(const data::Preparation& /*now*/) {}
  /// A phase begins with step number `step` (the first step is 1).
  virtual void on_phase(int64_t /*step*/, prune::Phase /*phase*/) {}
  virtual void on_progress(const Progress& /*progress*/) {}
  virtual void on_evaluation(int64_t /*step*/, const Metrics& /*metrics*/) {}
};

/// Passes everything on to several observers.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}
  void on_message(const std::string& text) override {
    for (Observer* one : all_) one->on_message(text);
  }
  void on_preparation(const data::Preparation& now) override {
    for (Observer* one : all_) one->on_preparation(now);
  }
  void on_phase(int64_t step, prune::Phase phase) override {
    for (Observer* one : all_) one->on_phase(step, phase);
  }
  void on_progress(const Progress& progress) override {
    for (Observer* one : all_) one->on_progress(progress);
  }
  void on_evaluation(int64_t step, const Metrics& metrics) override {
    for (Observer* one : all_) one->on_evaluation(step, metrics);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace hewn::run
