#include "hewn/run/folder.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/run/method_name.h"

namespace hewn::run {

Folder fresh_folder(const Options& options) {
  const std::string data = options.data.substr(0, options.data.find(':'));
  std::string model = options.model;
  std::replace(model.begin(), model.end(), '/', '-');  // a folder's name, not a path
  const std::string name = str("runs/", data, "-", model, "-", method_label(options), "-seed", options.seed);
  Folder run{name};
  for (int n = 2; std::filesystem::exists(run.path); ++n) run.path = str(name, "-", n);
  return run;
}

}  // namespace hewn::run
