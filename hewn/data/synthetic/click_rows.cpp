#include "hewn/data/synthetic/click_rows.h"

#include "hewn/data/synthetic/click_row-inl.h"

namespace hewn::data {

void click_rows(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count,
                int32_t* input, float* target, float* logit) {
  for (int64_t i = 0; i < count; ++i) {
    const ClickLabel label = click_row(truth, stream, first + i, input + i * kClickFields);
    target[i] = label.target;
    if (logit != nullptr) logit[i] = label.logit;
  }
}

}  // namespace hewn::data
