#include "hewn/run/folder.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::run {

Folder fresh_folder(const Options& options) {
  const std::string data = options.data.substr(0, options.data.find(':'));
  std::string model = options.model;
  std::replace(model.begin(), model.end(), '/', '-');  // a folder's name, not a path
  // Blocks and sparsity of a support that is kept are the file's, which nobody has read yet.
  const std::string how = options.keep_support
                              ? "fixed-support"
                              : str(options.prune.method.value_or("auto"), "-b",
                                    short_text(options.prune.block), "-s", options.prune.sparsity);
  const std::string name = str("runs/", data, "-", model, "-", how, "-seed", options.seed);
  Folder run{name};
  for (int n = 2; std::filesystem::exists(run.path); ++n) run.path = str(name, "-", n);
  return run;
}

}  // namespace hewn::run
