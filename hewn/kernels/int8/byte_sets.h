#pragma once

#include "hewn/kernels/int8/byte_tile.h"

// The instruction sets that this build has for bytes, a file each. Whether the processor has them is asked
// before they are used.

namespace hewn::kernels {

#if defined(__x86_64__)
bool has_bytes_avx512();
ByteMachine bytes_avx512();
bool has_bytes_avx2();
ByteMachine bytes_avx2();
#elif defined(__aarch64__)
ByteMachine bytes_neon();
#endif
ByteMachine bytes_portable();

}  // namespace hewn::kernels
