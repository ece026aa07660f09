#pragma once

#include "hewn/kernels/bf16/pair_planes.h"

// The instruction sets that this build has for pairs. Whether the processor has them is asked before they are
// used.

namespace hewn::kernels {

#if defined(__x86_64__)
bool has_pairs_amx();
PairMachine pairs_amx();
bool has_pairs_avx512();
PairMachine pairs_avx512();
#endif

}  // namespace hewn::kernels
