#include "hewn/report/live.h"

#include "hewn/report/page.h"
#include "hewn/report/report.h"

namespace hewn::report {

LiveRun::LiveRun(const run::Folder& run)
    : view_(run),
      page_(std::make_shared<const Answer>(Answer{200, "text/html; charset=utf-8", live_page()})) {
  publish();
}

bool LiveRun::refresh() {
  std::string trouble;
  bool changed = false;
  try {
    changed = view_.refresh();
  } catch (const std::exception& problem) {
    // A run that is resumed or removed at this moment; the page says so and shows what it knew.
    trouble = problem.what();
    trouble.resize(std::min(trouble.size(), trouble.find('\n')));
  }
  if (trouble != trouble_) changed = true;
  trouble_ = trouble;
  if (changed) publish();
  return changed;
}

void LiveRun::publish() {
  Json data = collect_live(view_);
  data["version"] = ++version_;
  if (!trouble_.empty()) data["runs"][0]["problems"].push_back(trouble_);
  data_ = std::make_shared<const Answer>(
      Answer{200, "application/json", data.dump(-1, ' ', false, Json::error_handler_t::replace)});
}

std::shared_ptr<const Answer> LiveRun::route(const std::string& path) const {
  if (path == "/") return page_;
  if (path == "/data.json") return data_;
  return nullptr;
}

}  // namespace hewn::report
