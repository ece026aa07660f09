#pragma once

#include <cstdint>

namespace hewn::tensor {

/// Cores that this process may run on.
int64_t usable_cores();

/// Sets LibTorch's and OpenBLAS's threads; 0 means all cores this process may use, shared evenly by so many
/// processes on the machine. Returns the number.
int64_t set_threads(int64_t threads, int64_t processes_here = 1);

}  // namespace hewn::tensor
