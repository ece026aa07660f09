#include "hewn/core/error.h"
#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/kernels/cuda/block_sparse/images/convolve.h"

namespace hewn::kernels::cuda::block_sparse {
namespace {

[[noreturn]] void missing(const char* what) {
  throw Error(
      str("[block_sparse::", what, "] this build has no CUDA kernels: configure with -DHEWN_CUDA=ON"));
}

}  // namespace

int architecture() { return 0; }
void find_tiles(const Product&, const uint8_t*, void*, void*) { missing("find_tiles"); }
void pack(const Product&, const DenseWeight&, const void*, void*, void*) { missing("pack"); }
void multiply(const Product&, const void*, const void*, const Samples&, void*) { missing("multiply"); }
void convolve(const Product&, const Images&, const void*, const void*, const Samples&, void*) {
  missing("convolve");
}
void find_pairs(const WeightGradient&, const uint8_t*, void*, void*) { missing("find_pairs"); }
void grad_weight(const WeightGradient&, const void*, void*, const GradWeightCall&, void*) {
  missing("grad_weight");
}

}  // namespace hewn::kernels::cuda::block_sparse
