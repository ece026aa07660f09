#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace hewn::tensor {

/// "cpu", "cuda" or "cuda:N" as a device that is there; throws Error where it is not. "cuda" is the GPU with
/// the process's number on its machine.
c10::Device find_device(const std::string& name, int64_t local_rank = 0);

/// Cores that this process may run on.
int64_t usable_cores();

/// Sets LibTorch's and OpenBLAS's threads; 0 means all cores this process may use, shared evenly by so many
/// processes on the machine. Returns the number.
int64_t set_threads(int64_t threads, int64_t processes_here = 1);

}  // namespace hewn::tensor
