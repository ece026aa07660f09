#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kLineEvery{20};

double share_of(int64_t done, int64_t all) {
  return static_cast<double>(done) / static_cast<double>(std::max<int64_t>(all, 1));
}

std::string metrics_text(const run::Evaluation& evaluation) {
  std::string out = str(run::name_of(evaluation.part), ":");
  for (const auto& [name, value] : evaluation.metrics) out += str(" ", name, " ", metric_text(name, value));
  return out;
}

std::string training_text(const run::Progress& progress) {
  return str("loss ", fixed(progress.loss, 4),
             progress.accuracy ? str("  train ", fixed(*progress.accuracy, 1), " %") : "", "  active ",
             percent(progress.active_fraction));
}

/// What was found at another step is shown with it.
std::string at_step(int64_t step, int64_t now, const std::string& text) {
  return step == now ? "  " + text : str("  at ", step, ": ", text);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

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

Terminal::Terminal(bool quiet) : Terminal(quiet, isatty(STDERR_FILENO) == 1) {}

Terminal::Terminal(bool quiet, bool is_terminal) : quiet_(quiet), is_terminal_(is_terminal) {
  // A bar appears at once, a line where something lasts.
  if (!is_terminal) shown_ = Clock::now();
}

Terminal::~Terminal() {
  if (bar_shown_) std::cerr << '\n';
}

void Terminal::line(const std::string& text) {
  if (quiet_) return;
  if (bar_shown_) std::cerr << "\r\033[K";
  bar_shown_ = false;
  std::cerr << text << '\n';
}

bool Terminal::due() {
  const Clock::time_point now = Clock::now();
  const auto wait = is_terminal_ ? std::chrono::duration_cast<Clock::duration>(kRedraw) : kLineEvery;
  if (quiet_ || now - shown_ < wait) return false;
  shown_ = now;
  return true;
}

void Terminal::show(double share, const std::string& beside_bar, const std::string& alone) {
  if (!is_terminal_) return line(alone);
  std::cerr << bar_line(std::min(1.0, share), beside_bar) << std::flush;
  bar_shown_ = true;
}

void Terminal::on_message(const std::string& text) { line(printable(text)); }

void Terminal::on_preparation(const data::Preparation& now) {
  if (now.what != begun_.what) begun_ = now;
  if (!due()) return;
  const auto done = static_cast<double>(now.bytes - begun_.bytes);
  const double left =
      done <= 0 ? 0
                : (now.seconds - begun_.seconds) / done * static_cast<double>(now.bytes_total - now.bytes);
  const double speed = now.seconds <= 0 ? 0 : static_cast<double>(now.rows) / now.seconds;
  const std::string text =
      str(now.what, "  ", now.rows, " rows  ", fixed(speed, 0), " rows/s  left ", clock_text(left));
  show(share_of(now.bytes, now.bytes_total), text, text);
}

void Terminal::on_work(const std::string& what, int64_t done, int64_t all) {
  if (what != work_ || done == 0) {
    work_ = what;
    work_begun_ = Clock::now();
  }
  if (!due()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - work_begun_).count();
  const std::string left =
      done == 0
          ? ""
          : "  left " + clock_text(seconds * static_cast<double>(all - done) / static_cast<double>(done));
  const std::string text = str(what, "  ", done, "/", all, left);
  show(share_of(done, all), text, text);
}

void Terminal::on_begin(const run::Course& course) {
  course_ = course;
  step_ = course.step;
  last_.reset();
  evaluation_.reset();
  time_left_.begin(course, seconds_now());
  if (is_terminal_ && !quiet_) bar("");
}

void Terminal::on_step(int64_t step, prune::Phase phase) {
  step_ = step;
  phase_ = phase;
  time_left_.step(phase, seconds_now());
  if (is_terminal_ && due()) bar("");
}

void Terminal::on_progress(const run::Progress& progress) {
  last_ = progress;
  if (!due()) return;
  if (is_terminal_) return bar("");
  line(str("step ", progress.step, "/", progress.steps, "  ", prune::name_of(progress.phase), "  ",
           training_text(progress), "  ", clock_text(progress.seconds), left()));
}

void Terminal::on_evaluating(int64_t done, int64_t all) {
  if (course_.steps == 0) return on_work("evaluating", done, all);
  if (done == all) time_left_.evaluated(seconds_now());
  if (done > 0 && due()) {
    const std::string text = str("evaluating ", done, "/", all);
    is_terminal_ ? bar("  " + text) : line(str("step ", step_, "/", course_.steps, "  ", text));
  }
}

void Terminal::on_evaluation(const run::Evaluation& evaluation) {
  evaluation_ = evaluation;
  if (is_terminal_) {
    if (!quiet_) bar("");
    return;
  }
  const bool same = last_ && last_->step == evaluation.step;
  line(str("step ", evaluation.step, "/", evaluation.steps, "  ", prune::name_of(evaluation.phase),
           same ? "  " + training_text(*last_) : "", "  ", metrics_text(evaluation), "  ",
           clock_text(evaluation.seconds), left()));
  shown_ = Clock::now();
}

std::string Terminal::left() const {
  const std::optional<double> seconds = time_left_.seconds();
  if (!seconds || (step_ == course_.steps && !course_.another)) return "";
  return "  left " + clock_text(*seconds) + (course_.another ? " with the pruned model" : "");
}

void Terminal::bar(const std::string& more) {
  std::string text = str(step_, "/", course_.steps);
  if (step_ > course_.step) text += str(" ", prune::name_of(phase_));
  text += left() + more;
  if (last_) text += at_step(last_->step, step_, training_text(*last_));
  if (evaluation_) text += at_step(evaluation_->step, step_, metrics_text(*evaluation_));
  show(share_of(step_, course_.steps), text, "");
}

}  // namespace hewn::cli
