#pragma once

#include <string>

#include "hewn/run/observer.h"

namespace hewn::cli {

/// "[####....]" of which that share is full.
std::string bar_of(double share);

/// As much of the text as fits into a line of that terminal, 79 characters where it is none. A line that
/// wraps could not be replaced by the next one.
std::string cut_to_line(const std::string& text, int descriptor);

/// A bar and a text for standard error, in place of what stands on the line.
std::string bar_line(double share, const std::string& text);

/// Shows a run on standard error: a bar on a terminal, plain lines elsewhere.
class Terminal final : public run::Observer {
 public:
  explicit Terminal(bool quiet);
  ~Terminal() override;
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void on_message(const std::string& text) override;
  void on_preparation(const data::Preparation& now) override;
  void on_phase(int64_t step, prune::Phase phase) override;
  void on_progress(const run::Progress& progress) override;
  void on_evaluation(int64_t step, const run::Metrics& metrics) override;

 private:
  void line(const std::string& text);
  void bar();

  bool quiet_;
  bool is_terminal_;
  bool bar_shown_ = false;
  run::Progress last_;
  double first_seconds_ = 0;
  int64_t first_step_ = -1;
  std::string test_;
  data::Preparation begun_;  // of what is being prepared
};

}  // namespace hewn::cli
