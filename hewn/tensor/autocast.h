#pragma once

#include <c10/core/Device.h>

namespace hewn::tensor {

/// Switches conversion to bf16 on or off, for operators on a GPU or those on the CPU.
void set_autocast(bool cuda, bool on);

/// Whether operators on a GPU convert what they take to bf16 now, in this thread.
bool autocast_to_bf16();

}  // namespace hewn::tensor
