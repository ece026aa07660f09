#pragma once

#include <string>
#include <vector>

#include "hewn/io/source_kind.h"

namespace hewn::cli {

/// What a path that was given as SOURCE is. Throws Error, which names the path, what it is and what `command`
/// takes, where that is none of `taken`. `expected` says what is taken in other words than the kinds' names.
io::SourceKind source_kind(const std::string& command, const std::string& path,
                           const std::vector<io::SourceKind>& taken, std::string expected = "");

}  // namespace hewn::cli
