#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hewn/data/kind.h"
#include "hewn/data/plumbing/preparation.h"
#include "hewn/prune/schedule/schedule.h"
#include "hewn/run/metrics.h"

namespace hewn::run {

constexpr size_t kPhases = 3;

constexpr std::string_view name_of(data::Part part) {
  return part == data::Part::kTest ? "test" : "validation";
}

/// What lies before a training that begins or goes on after `step` of its `steps` steps.
struct Course {
  int64_t step = 0;
  int64_t steps = 0;
  // Of this training and of one that comes behind it, as the pruned model does behind the dense one.
  std::array<int64_t, kPhases> left = {};  // steps, by phase
  int64_t evaluations = 0;
  double evaluation_size = 0;  // samples of an evaluation over those of a step
  bool another = false;        // whether one comes behind it
};

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

/// What the network after `step` of `steps` steps makes of held-out data.
struct Evaluation {
  int64_t step = 0;
  int64_t steps = 0;
  prune::Phase phase = prune::Phase::kDense;
  data::Part part = data::Part::kTest;
  Metrics metrics;
  double seconds = 0;  // since the run began
};

/// Hears what a run does, and may ask it to stop. The loop itself prints nothing and writes no log.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Something the user should know: a choice made, a damaged file skipped.
  virtual void on_message(const std::string& /*text*/) {}
  /// Data are being made ready, now and then.
  virtual void on_preparation(const data::Preparation& /*now*/) {}
  /// Before the first step, also of a resumed run.
  virtual void on_begin(const Course& /*course*/) {}
  /// A phase begins with step number `step` (the first step is 1).
  virtual void on_phase(int64_t /*step*/, prune::Phase /*phase*/) {}
  /// After every step. A GPU may still be at work on it: must not wait.
  virtual void on_step(int64_t /*step*/, prune::Phase /*phase*/) {}
  virtual void on_progress(const Progress& /*progress*/) {}
  /// An evaluation has seen so many of its batches: none when it begins, all when it ends.
  virtual void on_evaluating(int64_t /*done*/, int64_t /*all*/) {}
  virtual void on_evaluation(const Evaluation& /*evaluation*/) {}
  /// Whether the run should end as soon as it can go on from there later: it then writes a checkpoint and
  /// throws Stopped. Asked before every step, at every batch of an evaluation and while data are made ready.
  virtual bool stop_requested() const { return false; }
};

/// Passes everything on to several observers; any of them may stop the run.
class Observers final : public Observer {
 public:
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}
  void on_message(const std::string& text) override {
    for (Observer* one : all_) one->on_message(text);
  }
  void on_preparation(const data::Preparation& now) override {
    for (Observer* one : all_) one->on_preparation(now);
  }
  void on_begin(const Course& course) override {
    for (Observer* one : all_) one->on_begin(course);
  }
  void on_phase(int64_t step, prune::Phase phase) override {
    for (Observer* one : all_) one->on_phase(step, phase);
  }
  void on_step(int64_t step, prune::Phase phase) override {
    for (Observer* one : all_) one->on_step(step, phase);
  }
  void on_progress(const Progress& progress) override {
    for (Observer* one : all_) one->on_progress(progress);
  }
  void on_evaluating(int64_t done, int64_t all) override {
    for (Observer* one : all_) one->on_evaluating(done, all);
  }
  void on_evaluation(const Evaluation& evaluation) override {
    for (Observer* one : all_) one->on_evaluation(evaluation);
  }
  bool stop_requested() const override {
    for (const Observer* one : all_) {
      if (one->stop_requested()) return true;
    }
    return false;
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace hewn::run
