#include "hewn/core/suffix.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn {

std::string known_suffix(const std::string& option, const std::filesystem::path& file,
                         const std::vector<std::string>& known) {
  std::string suffix = file.extension().string();
  if (std::find(known.begin(), known.end(), suffix) != known.end()) return suffix;
  throw Error(str(option, ": expected a file that ends in ", join(known), ", got ", file.string()));
}

}  // namespace hewn
