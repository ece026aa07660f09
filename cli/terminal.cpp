#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"

namespace hewn::cli {

std::string bar_of(double share) {
  constexpr double kWidth = 20;
  const auto full = static_cast<size_t>(kWidth * std::clamp(share, 0.0, 1.0));
  return "[" + std::string(full, '#') + std::string(static_cast<size_t>(kWidth) - full, '.') + "]";
}

std::string cut_to_line(const std::string& text, int descriptor) {
  winsize size = {};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return text.substr(0, known ? size.ws_col - 1U : 79U);
}

std::string bar_line(double share, const std::string& text) {
  return "\r\033[K" + cut_to_line(bar_of(share) + " " + text, STDERR_FILENO);
}

Terminal::Terminal(bool quiet) : quiet_(quiet), is_terminal_(isatty(STDERR_FILENO) == 1) {}

Terminal::~Terminal() {
  if (bar_shown_) std::cerr << '\n';
}

void Terminal::line(const std::string& text) {
  if (quiet_) return;
  if (bar_shown_) std::cerr << "\r\033[K";
  bar_shown_ = false;
  std::cerr << text << '\n';
}

void Terminal::on_message(const std::string& text) { line(text); }

void Terminal::on_preparation(const data::Preparation& now) {
  if (quiet_ || !is_terminal_) return;
  if (now.what != begun_.what) begun_ = now;
  const double share = std::min(
      1.0, static_cast<double>(now.bytes) / static_cast<double>(std::max<int64_t>(now.bytes_total, 1)));
  const auto done = static_cast<double>(now.bytes - begun_.bytes);
  const double left =
      done <= 0 ? 0
                : (now.seconds - begun_.seconds) / done * static_cast<double>(now.bytes_total - now.bytes);
  const double speed = now.seconds <= 0 ? 0 : static_cast<double>(now.rows) / now.seconds;
  std::cerr << bar_line(share, str(now.what, "  ", now.rows, " rows  ", fixed(speed, 0), " rows/s  left ",
                                   clock_text(left)))
            << std::flush;
  bar_shown_ = true;
}

void Terminal::on_phase(int64_t, prune::Phase phase) { last_.phase = phase; }

void Terminal::on_progress(const run::Progress& progress) {
  if (first_step_ < 0 || progress.step < last_.step) {
    first_step_ = progress.step;
    first_seconds_ = progress.seconds;
    test_.clear();
  }
  last_ = progress;
  if (is_terminal_ && !quiet_) bar();
}

void Terminal::on_evaluation(int64_t step, const run::Metrics& metrics) {
  test_.clear();
  for (const auto& [name, value] : metrics)
    test_ += str(test_.empty() ? "" : " ", name, " ", metric_text(name, value));
  if (is_terminal_) return;
  // Before the first report nothing else is known.
  if (last_.steps == 0) return line(str("step ", step, "  test: ", test_));
  line(str("step ", step, "/", last_.steps, "  ", prune::name_of(last_.phase), "  loss ",
           fixed(last_.loss, 4), "  active ", percent(last_.active_fraction), "  test: ", test_, "  ",
           clock_text(last_.seconds)));
}

void Terminal::bar() {
  const auto done = static_cast<double>(last_.step - first_step_);
  const double left =
      done <= 0 ? 0 : (last_.seconds - first_seconds_) / done * static_cast<double>(last_.steps - last_.step);
  const std::string text = str(
      last_.step, "/", last_.steps, " ", prune::name_of(last_.phase), "  left ", clock_text(left), "  loss ",
      fixed(last_.loss, 3), last_.accuracy ? str("  train ", fixed(*last_.accuracy, 1), " %") : "",
      "  active ", percent(last_.active_fraction), test_.empty() ? "" : "  test: ", test_);
  std::cerr << bar_line(static_cast<double>(last_.step) / static_cast<double>(last_.steps), text)
            << std::flush;
  bar_shown_ = true;
}

}  // namespace hewn::cli
