#pragma once

#include <cstdint>

namespace hewn::support {

/// How often this program has asked for memory with new. Linked into tests that count.
int64_t allocations();

}  // namespace hewn::support
