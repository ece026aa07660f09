// Stands in for click_rows.cu in a build without CUDA.
#include "hewn/core/error.h"
#include "hewn/data/synthetic/cuda/click_rows.h"

namespace hewn::data::cuda {

void click_rows(const ClickTruth&, const ClickStream&, int64_t, int64_t, int32_t*, float*, void*) {
  throw Error("[click_rows] this build has no CUDA kernels: configure with -DHEWN_CUDA=ON");
}

}  // namespace hewn::data::cuda
