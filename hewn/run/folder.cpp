#include "hewn/run/folder.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/run/method_name.h"

namespace hewn::run {

FreshFolder::FreshFolder(const Options& options) {
  const std::string data = options.data.substr(0, options.data.find(':'));
  std::string model = options.model;
  std::replace(model.begin(), model.end(), '/', '-');  // a folder's name, not a path
  const std::string name = str("runs/", data, "-", model, "-", method_label(options), "-seed", options.seed);
  make_writable_folder("runs");
  std::error_code problem;
  folder_.path = name;
  for (int n = 2; !std::filesystem::create_directory(folder_.path, problem); ++n) {
    if (problem) throw Error(str(folder_.path.string(), ": cannot make this folder: ", problem.message()));
    folder_.path = str(name, "-", n);
  }
}

FreshFolder::~FreshFolder() {
  std::error_code ignored;
  std::filesystem::remove(folder_.path, ignored);  // an empty one only
  std::filesystem::remove(folder_.path.parent_path(), ignored);
}

}  // namespace hewn::run
