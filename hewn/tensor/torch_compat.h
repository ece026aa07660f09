#pragma once

// The differences between LibTorch 1.13 and 2.x that the code meets, in one place. The only header of core/
// that names LibTorch; core's own sources do not include it.
#include <c10/util/Optional.h>
#include <torch/version.h>

#include <optional>

namespace hewn {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
template <class T>
using TorchOptional = std::optional<T>;
#else
template <class T>
using TorchOptional = c10::optional<T>;
#endif

}  // namespace hewn
