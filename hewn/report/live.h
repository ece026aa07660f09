#pragma once

#include <memory>
#include <string>

#include "hewn/report/http.h"
#include "hewn/report/run_view.h"

namespace hewn::report {

/// A run as the server shows it: the page at /, its data at /data.json.
class LiveRun {
 public:
  /// Throws Error where the folder is no run.
  explicit LiveRun(const run::Folder& run);

  /// Looks at the folder again. Whether the data changed.
  bool refresh();
  /// Grows with every change of the data.
  int64_t version() const { return version_; }
  const RunView& view() const { return view_; }
  std::shared_ptr<const Answer> route(const std::string& path) const;

 private:
  void publish();

  RunView view_;
  std::string trouble_;  // of the last look
  int64_t version_ = 0;
  std::shared_ptr<const Answer> page_;
  std::shared_ptr<const Answer> data_;
};

}  // namespace hewn::report
