#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace hewn::tensor {

/// "cpu", "cuda" or "cuda:N" as a device that is there; throws Error where it is not. "cuda" is the GPU with
/// the process's number on its machine.
c10::Device find_device(const std::string& name, int64_t local_rank = 0);

}  // namespace hewn::tensor
