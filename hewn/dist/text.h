#pragma once

#include <string>

#include "hewn/dist/communicator.h"

namespace hewn::dist {

/// Rank 0's text, on every process.
std::string broadcast_text(Communicator& group, const std::string& text);

}  // namespace hewn::dist
