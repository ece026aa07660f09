#include "cli/torch/sweep_progress.h"

#include <unistd.h>

#include <iostream>

#include "cli/table.h"
#include "cli/terminal.h"
#include "hewn/core/error.h"
#include "hewn/sweep/estimate.h"
#include "hewn/sweep/tables.h"

namespace hewn::cli {
namespace {

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

SweepProgress::SweepProgress(const sweep::Spec& spec, const std::vector<sweep::Run>& runs,
                             const sweep::Folder& folder, ProgressOptions options)
    : spec_(spec), runs_(runs), folder_(folder), options_(options), is_terminal_(isatty(STDERR_FILENO) == 1) {
  refresh();
}

SweepProgress::~SweepProgress() { wipe(); }

void SweepProgress::wipe() {
  if (bar_shown_) std::cerr << "\r\033[K" << std::flush;
  bar_shown_ = false;
}

void SweepProgress::refresh() {
  try {
    results_ = sweep::collect(spec_, runs_, folder_);
  } catch (const Error&) {
    // Others may move what we read. What is damaged is found again before the tables are made.
    if (!options_.joined || results_.runs.empty()) throw;
  }
  if (!options_.joined) sweep::write_tables(spec_, runs_, results_, folder_);
}

void SweepProgress::line(const std::string& text) {
  if (options_.quiet) return;
  wipe();
  std::cerr << text << '\n';
}

std::string SweepProgress::left() const {
  std::map<size_t, double> running;
  for (const auto& [number, begin] : running_) running[number] = since(begin);
  const auto seconds =
      sweep::seconds_left(spec_, runs_, results_, running, spec_.options.workers + elsewhere_);
  return seconds ? "  left " + clock_text(*seconds) : "";
}

void SweepProgress::on_start(const sweep::Run& run) { running_[number_of(run)] = Clock::now(); }

void SweepProgress::on_end(const sweep::Run& run, sweep::State state) {
  const size_t number = number_of(run);
  const double seconds = since(running_.at(number));
  running_.erase(number);
  refresh();
  const sweep::RunResult& result = results_.runs[number];
  if (state == sweep::State::kFailed) return line(str("failed  ", run.name, "  ", result.error));
  if (is_terminal_ || !result.value) return;
  line(str(results_.count(sweep::State::kFinished), "/", runs_.size(), "  ", run.name, "  ", results_.metric,
           " ", metric_text(results_.metric, *result.value), "  ", clock_text(seconds), left()));
}

void SweepProgress::on_others(int64_t running) {
  elsewhere_ = running;
  if (is_terminal_ && !options_.quiet) refresh();
}

void SweepProgress::on_lost(const sweep::Run& run) {
  running_.erase(number_of(run));
  line(
      str("lost  ", run.name, "  another has taken it over, since nothing was heard from here for too long"));
}

void SweepProgress::on_tick() {
  constexpr double kRedraw = 0.5;  // seconds
  if (options_.quiet || !is_terminal_ || since(drawn_) < kRedraw) return;
  drawn_ = Clock::now();
  const int64_t failed = results_.count(sweep::State::kFailed);
  const int64_t done = results_.count(sweep::State::kFinished);
  const std::string ahead = sweep::leader(spec_, results_);
  const std::string text =
      str(done, "/", runs_.size(), " runs, ", running_.size(), " running",
          elsewhere_ > 0 ? str(" and ", elsewhere_, " elsewhere") : "",
          failed > 0 ? str(", ", failed, " failed") : "", left(), ahead.empty() ? "" : "  best: " + ahead);
  std::cerr << bar_line(static_cast<double>(done + failed) / static_cast<double>(runs_.size()), text)
            << std::flush;
  bar_shown_ = true;
}

}  // namespace hewn::cli
