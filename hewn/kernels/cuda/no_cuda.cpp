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
void embed(int64_t, int64_t, const int64_t*, const float*, const int32_t*, int64_t, float*, void*) {
  missing("embed");
}
void sum_sorted_rows(const int32_t*, const int64_t*, int64_t, int64_t, const float*, float*, void*) {
  missing("sum_sorted_rows");
}
void update_sorted_rows(const UpdateRule&, const int64_t*, int64_t, int64_t, const float*, float*, float*,
                        float*, const float*, void*) {
  missing("update_sorted_rows");
}
void click_rows(const ClickTruth&, const ClickStream&, int64_t, int64_t, int32_t*, float*, void*) {
  missing("click_rows");
}

}  // namespace hewn::kernels::cuda
