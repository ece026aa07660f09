#include "cli/source.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::cli {

io::SourceKind source_kind(const std::string& command, const std::string& path,
                           const std::vector<io::SourceKind>& taken, std::string expected) {
  const io::SourceKind kind = io::kind_of(path);
  if (std::find(taken.begin(), taken.end(), kind) != taken.end()) return kind;
  if (kind == io::SourceKind::kMissing) throw Error(str(path, ": no such file or folder"));
  for (size_t i = 0, named = expected.empty() ? taken.size() : 0; i < named; ++i) {
    expected += i == 0 ? "" : i + 1 < named ? ", " : " or ";
    expected += name_of(taken[i]);
  }
  throw Error(str(path, ": is ", name_of(kind), "; hewn ", command, " takes ", expected));
}

}  // namespace hewn::cli
