#include "cli/torch/watch_terminal.h"

#include <unistd.h>

#include <vector>

#include "cli/table.h"
#include "cli/terminal.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

/// The step that a value belongs to, where it is not the newest.
std::string with_step(const report::Series& series, const report::MetricsLog& log) {
  const auto step = static_cast<int64_t>(series.x.back());
  return step == log.step() ? "" : str(" at ", step);
}

std::string loss_text(const report::MetricsLog& log) {
  return log.loss().y.empty() ? "-" : fixed(log.loss().y.back(), 4) + with_step(log.loss(), log);
}

std::string tests_text(const report::MetricsLog& log) {
  std::string text;
  for (const auto& [name, series] : log.tests()) {
    text += str(text.empty() ? "" : "  ", name, " ", metric_text(name, series.y.back()));
  }
  return text.empty() ? "-" : text + with_step(log.tests().begin()->second, log);
}

std::string held_out(const report::RunView& run) {
  const Json& options = run.config().at("options");
  return options.value("eval-on", "test");
}

std::string phase_text(const report::RunView& run) {
  if (!run.log().phases().empty()) return run.log().phases().back().phase;
  return run.dense_step() > 0 ? str("dense model first, step ", run.dense_step(), "/", run.steps()) : "-";
}

std::string active_text(const report::MetricsLog& log) {
  return log.active().y.empty() ? "-" : percent(log.active().y.back()) + with_step(log.active(), log);
}

double share_done(int64_t step, int64_t steps) {
  return steps == 0 ? 0 : static_cast<double>(step) / static_cast<double>(steps);
}

}  // namespace

std::string TerminalView::time_left(const report::RunView& run) {
  const int64_t step = run.log().step();
  const auto now = Clock::now();
  if (first_step_ <= 0 || step < shown_step_) {  // before the first step the dense model may train
    first_step_ = step;
    first_seen_ = last_seen_ = now;
  }
  if (step != shown_step_) last_seen_ = now;
  const std::chrono::duration<double> seen = last_seen_ - first_seen_;
  if (step <= first_step_ || run.status() != report::Status::kRunning) return "";
  return clock_text(seen.count() / static_cast<double>(step - first_step_) *
                    static_cast<double>(run.steps() - step));
}

void TerminalView::show(const report::RunView& run) {
  const report::MetricsLog& log = run.log();
  const std::string left = time_left(run);
  const int64_t at = log.step() + run.dense_step();
  const bool fresh = at != shown_;
  shown_ = at;
  const bool over = run.status() != report::Status::kRunning;
  shown_step_ = log.step();
  if (!terminal_) {
    if (!fresh && !over) return;
    out_ << "step " << log.step() << "/" << run.steps() << "  " << report::name_of(run.status()) << "  "
         << phase_text(run) << "  loss " << loss_text(log) << "  active " << active_text(log) << "  "
         << held_out(run) << ": " << tests_text(log) << (left.empty() ? "" : "  left " + left) << std::endl;
    return;
  }
  std::vector<std::string> lines = {str(run.name(), "  ", report::name_of(run.status())),
                                    str(bar_of(share_done(log.step(), run.steps())), " ", log.step(), "/",
                                        run.steps(), left.empty() ? "" : "  left " + left),
                                    str("phase   ", phase_text(run)),
                                    str("active  ", active_text(log)),
                                    str("loss    ", loss_text(log)),
                                    str(held_out(run) == "test" ? "test    " : "valid.  ", tests_text(log))};
  for (const std::string& problem : run.problems()) lines.push_back("note    " + problem);
  if (lines_ > 0) out_ << "\033[" << lines_ << "A";
  for (const std::string& line : lines) out_ << "\033[K" << cut_to_line(line, STDOUT_FILENO) << "\n";
  out_ << "\033[J" << std::flush;
  lines_ = static_cast<int>(lines.size());
}

}  // namespace hewn::cli
