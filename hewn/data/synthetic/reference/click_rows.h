#pragma once

#include <cstdint>

#include "hewn/data/synthetic/click_rows.h"

namespace hewn::data::reference {

/// The same rows as the formula reads, pair by pair in double precision; probability is that of a click.
void click_rows(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count,
                int32_t* input, float* target, double* probability);

}  // namespace hewn::data::reference
