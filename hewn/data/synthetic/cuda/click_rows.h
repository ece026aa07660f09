#pragma once

#include <cstdint>

#include "hewn/data/synthetic/click_rows.h"

/// click_rows on a GPU. A build without CUDA has a stub that throws hewn::Error.
namespace hewn::data::cuda {

/// `truth` points to device memory; work is queued on `stream` (a cudaStream_t). Values are those of the CPU
/// bit for bit; a label may differ where the random number and the probability agree to the last digits.
void click_rows(const ClickTruth& truth, const ClickStream& rows, int64_t first, int64_t count,
                int32_t* input, float* target, void* stream);

}  // namespace hewn::data::cuda
