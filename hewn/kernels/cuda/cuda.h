#pragma once

#include <cstdint>

#include "hewn/core/grid.h"
#include "hewn/kernels/click_rows.h"
#include "hewn/kernels/update.h"

/// The CUDA twins of block_ops.h, update.h, embedding.h and click_rows.h, in single precision. Pointers are
/// device memory; work is queued on `stream` (a cudaStream_t) and nothing waits for it. A build without CUDA
/// has stubs that throw hewn::Error.
namespace hewn::kernels::cuda {

/// Whether this build has the kernels.
bool built();

void block_scale(const WeightLayout& layout, const float* weight, const float* gate, const uint8_t* active,
                 float* out, void* stream);
void block_scale_backward(const WeightLayout& layout, const float* grad_out, const float* weight,
                          const float* gate, const uint8_t* active, float* grad_weight, float* grad_gate,
                          void* stream);
void block_squares(const WeightLayout& layout, const float* weight, float* squares, void* stream);

/// `active` null: all `elements` are updated.
void update(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const float* grad,
            float* weight, float* first, float* second, const float* grad_scale, int64_t elements,
            void* stream);

/// embedding.h's embed; where a value is outside its vocabulary the output is NaN.
void embed(int64_t fields, int64_t width, const int64_t* first, const float* table, const int32_t* values,
           int64_t samples, float* out, void* stream);

/// `rows` are sorted, with repeats, and grad[order[i]] belongs to rows[i]. Sums the gradients of equal rows
/// into the first of them and sets the others to zero: nothing depends on how many are distinct, so nothing
/// has to be known on the host. The sum's order is that of `order`.
void sum_sorted_rows(const int32_t* rows, const int64_t* order, int64_t count, int64_t width,
                     const float* grad, float* sums, void* stream);

/// One optimiser step on the rows of a table that occur in the sorted list; grad as sum_sorted_rows leaves
/// it.
void update_sorted_rows(const UpdateRule& rule, const int64_t* rows, int64_t count, int64_t width,
                        const float* grad, float* weight, float* first, float* second,
                        const float* grad_scale, void* stream);

/// `truth` points to device memory. Values are those of the CPU bit for bit; a label may differ where the
/// random number and the probability agree to the last digits.
void click_rows(const ClickTruth& truth, const ClickStream& rows, int64_t first, int64_t count,
                int32_t* input, float* target, void* stream);

}  // namespace hewn::kernels::cuda
