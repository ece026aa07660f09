#include "hewn/core/error.h"
#include "hewn/kernels/cuda/cuda.h"

namespace hewn::kernels::cuda {
namespace {

[[noreturn]] void missing(const char* what) {
  throw Error(str("[", what, "] this build has no CUDA kernels: configure with -DHEWN_CUDA=ON"));
}

}  // namespace

bool built() { return false; }

void block_scale(const WeightLayout&, const float*, const float*, const uint8_t*, void*, Real, void*) {
  missing("block_scale");
}
void block_scale_backward(const WeightLayout&, const void*, Real, const float*, const float*, const uint8_t*,
                          float*, float*, void*) {
  missing("block_scale_backward");
}
void block_squares(const WeightLayout&, const float*, float*, void*) { missing("block_squares"); }
void block_scale(std::span<const ScaleItem>, Real, void*) { missing("block_scale"); }
void block_scale_backward(std::span<const ScaleItem>, Real, void*) { missing("block_scale_backward"); }
int64_t clip_memory(std::span<const Row>) { missing("clip_memory"); }
void clip_factor(std::span<const Row>, double, float*, float*, void*) { missing("clip_factor"); }
void multiply_rows(std::span<const Row>, const float*, void*) { missing("multiply_rows"); }
void restore_blocks(std::span<const RestoreItem>, void*) { missing("restore_blocks"); }
void attention(std::span<const AttentionItem>, void*) { missing("attention"); }
void attention_backward(std::span<const AttentionItem>, void*) { missing("attention_backward"); }
void gated_norms(const WeightLayout&, const float*, const float*, float*, void*) { missing("gated_norms"); }
void top_k(std::span<const TopKItem>, void*) { missing("top_k"); }
void set_step(const UpdateRule&, float*, void*) { missing("set_step"); }
void update(const UpdateRule&, const float*, std::span<const UpdateItem>, const float*, void*) {
  missing("update");
}
void embed(int64_t, int64_t, const int64_t*, const float*, const int32_t*, int64_t, float*, void*) {
  missing("embed");
}
void sum_sorted_rows(const int32_t*, const int64_t*, int64_t, int64_t, const float*, float*, void*) {
  missing("sum_sorted_rows");
}
void update_sorted_rows(const UpdateRule&, const float*, const UpdateRates&, const int64_t*, int64_t, int64_t,
                        const float*, float*, float*, float*, const float*, void*) {
  missing("update_sorted_rows");
}

}  // namespace hewn::kernels::cuda
