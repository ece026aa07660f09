#pragma once

#include <chrono>
#include <ostream>

#include "hewn/report/run_view.h"

namespace hewn::cli {

/// Shows where a run stands: a block of lines that is drawn anew on a terminal, elsewhere a line for every
/// new record.
class TerminalView {
 public:
  TerminalView(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  void show(const report::RunView& run);

 private:
  using Clock = std::chrono::steady_clock;

  /// "3:20", from the steps seen so far; "" while too few were.
  std::string time_left(const report::RunView& run);

  std::ostream& out_;
  bool terminal_;
  int lines_ = 0;       // drawn last
  int64_t shown_ = -1;  // steps of the run and of the dense one beside it
  int64_t shown_step_ = -1;
  int64_t first_step_ = -1;
  Clock::time_point first_seen_;
  Clock::time_point last_seen_;
};

}  // namespace hewn::cli
