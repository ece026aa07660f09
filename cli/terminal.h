#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "hewn/run/observer.h"
#include "hewn/run/time_left.h"

namespace hewn::cli {

/// "[####....]" of which that share is full.
std::string bar_of(double share);

/// As much of the text as fits into a line of that terminal, 79 characters where it is none. A line that
/// wraps could not be replaced by the next one.
std::string cut_to_line(const std::string& text, int descriptor);

/// A bar and a text for standard error, in place of what stands on the line.
std::string bar_line(double share, const std::string& text);

/// Shows a run, or any other work, on standard error: a bar on a terminal, plain lines elsewhere, some of
/// them a minute. Values of another step than the one that is named stand beside their own.
class Terminal final : public run::Observer {
 public:
  explicit Terminal(bool quiet);
  Terminal(bool quiet, bool is_terminal);
  ~Terminal() override;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void on_message(const std::string& text) override;
  void on_preparation(const data::Preparation& now) override;
  void on_begin(const run::Course& course) override;
  void on_step(int64_t step, prune::Phase phase) override;
  void on_progress(const run::Progress& progress) override;
  void on_evaluating(int64_t done, int64_t all) override;
  void on_evaluation(const run::Evaluation& evaluation) override;

  /// Any other work: so many of all parts of it are done.
  void on_work(const std::string& what, int64_t done, int64_t all);

 private:
  using Clock = std::chrono::steady_clock;

  void line(const std::string& text);
  /// Where it is time for that, the bar on a terminal, the other text elsewhere.
  void show(double share, const std::string& beside_bar, const std::string& alone);
  /// Whether a terminal's bar or a line elsewhere is due.
  bool due();
  void bar(const std::string& more);
  std::string left() const;

  bool quiet_;
  bool is_terminal_;
  bool bar_shown_ = false;
  Clock::time_point shown_;  // when something was last shown
  data::Preparation begun_;  // of what is being prepared
  std::string work_;         // what is being worked on
  Clock::time_point work_begun_;
  run::Course course_;  // steps is 0: no training has begun
  int64_t step_ = 0;
  prune::Phase phase_ = prune::Phase::kDense;
  std::optional<run::Progress> last_;
  std::optional<run::Evaluation> evaluation_;
  run::TimeLeft time_left_;
};

}  // namespace hewn::cli
