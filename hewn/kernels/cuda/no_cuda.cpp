#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"

namespace hewn::kernels::cuda {
namespace {

[[noreturn]] void missing(const char* what) {
  throw Error(str("[", what, "] this build has no CUDA kernels: configure with -DHEWN_CUDA=ON"));
}

}  // namespace

bool built() { return false; }

void block_scale(const WeightLayout&, const float*, const float*, const uint8_t*, float*, void*) {
  missing("block_scale");
}
void block_scale_backward(const WeightLayout&, const float*, const float*, const float*, const uint8_t*,
                          float*, float*, void*) {
  missing("block_scale_backward");
}
void block_squares(const WeightLayout&, const float*, float*, void*) { missing("block_squares"); }
void update(const UpdateRule&, const WeightLayout&, const uint8_t*, const float*, float*, float*, float*,
            const float*, int64_t, void*) {
  missing("update");
}
void click_rows(const ClickTruth&, const ClickStream&, int64_t, int64_t, int32_t*, float*, void*) {
  missing("click_rows");
}

}  // namespace hewn::kernels::cuda
