#pragma once

#include <cstdint>
#include <span>

#include "hewn/core/grid.h"
#include "hewn/kernels/update.h"

/// The CUDA twins of block_ops.h, update.h and embedding.h, in single precision. Pointers are
/// device memory; work is queued on `stream` (a cudaStream_t) and nothing waits for it. A build without CUDA
/// has stubs that throw hewn::Error.
namespace hewn::kernels::cuda {

/// Whether this build has the kernels.
bool built();

/// What gated weights and their gradients are made of; weights themselves are always single precision.
enum class Real : uint8_t { kFloat, kBf16 };

void block_scale(const WeightLayout& layout, const float* weight, const float* gate, const uint8_t* active,
                 void* out, Real type, void* stream);
void block_scale_backward(const WeightLayout& layout, const void* grad_out, Real type, const float* weight,
                          const float* gate, const uint8_t* active, float* grad_weight, float* grad_gate,
                          void* stream);
void block_squares(const WeightLayout& layout, const float* weight, float* squares, void* stream);

/// One of many layers that are scaled in one launch: in a network of small layers launching is what costs.
/// `gate` and `active` may be null.
struct ScaleItem {
  const float* weight;
  const float* gate;
  const uint8_t* active;
  WeightLayout layout;
  void* out = nullptr;             // of block_scale
  const void* grad_out = nullptr;  // and the rest of block_scale_backward; grad_gate may be null
  float* grad_weight = nullptr;
  float* grad_gate = nullptr;
};
void block_scale(std::span<const ScaleItem> items, Real type, void* stream);
void block_scale_backward(std::span<const ScaleItem> items, Real type, void* stream);

/// One layer whose blocks that are not active become what `held` has there.
struct RestoreItem {
  float* weight;
  const float* held;
  const uint8_t* active;
  WeightLayout layout;
};
void restore_blocks(std::span<const RestoreItem> items, void* stream);

/// Numbers in a row.
struct Row {
  float* values;
  int64_t count;
};
/// How many floats clip_factor needs to work with.
int64_t clip_memory(std::span<const Row> rows);
/// factor = min(1, limit / (norm + 1e-6)) of all rows together. Sums run in a fixed order.
void clip_factor(std::span<const Row> rows, double limit, float* memory, float* factor, void* stream);
/// Multiplies all rows by the factor; a factor of 1 leaves them alone.
void multiply_rows(std::span<const Row> rows, const float* factor, void* stream);

/// One layer's attention = n softmax(logits) over its n blocks, and gate = attention clamped to [low, high].
/// Backward `logits` and `gate` are their gradients.
struct AttentionItem {
  float* logits;
  float* attention;
  float* gate;
  int64_t blocks;
  float low;
  float high;
};
void attention(std::span<const AttentionItem> items, void* stream);
void attention_backward(std::span<const AttentionItem> items, void* stream);

/// Norms below this count as this much where their logarithm is taken.
constexpr float kLeastNorm = 1e-18f;
/// out[block] = logits[block] + log(norm of the block).
void gated_norms(const WeightLayout& layout, const float* weight, const float* logits, float* out,
                 void* stream);

/// One layer to choose from, as search.h's Candidates. `within` null: all may be chosen.
struct TopKItem {
  const float* importance;
  const uint8_t* within;
  uint8_t* support;  // gets 1 for the `keep` most important blocks, else 0; ties go to the lowest index. May
                     // be `within`
  int64_t blocks;
  int64_t keep;
};
void top_k(std::span<const TopKItem> items, void* stream);

/// The part of an UpdateRule that is a tensor's own.
struct UpdateRates {
  double lr_factor = 1;
  double weight_decay = 0;
  double l1_decay = 0;
};

/// One tensor to update. `active` null: all its elements are.
struct UpdateItem : UpdateRates {
  const float* grad = nullptr;
  float* weight = nullptr;
  float* first = nullptr;
  float* second = nullptr;
  const uint8_t* active = nullptr;
  WeightLayout layout = {};
  int64_t elements = 0;
};

/// Leaves in `step` (3 floats) what changes from step to step: the rule's lr and corrections. From there the
/// updates read it, so that recorded work can be repeated with other values.
void set_step(const UpdateRule& rule, float* step, void* stream);
/// Updates all tensors at once. Of the rule only what they share is used.
void update(const UpdateRule& rule, const float* step, std::span<const UpdateItem> tensors,
            const float* grad_scale, void* stream);

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
void update_sorted_rows(const UpdateRule& rule, const float* step, const UpdateRates& rates,
                        const int64_t* rows, int64_t count, int64_t width, const float* grad, float* weight,
                        float* first, float* second, const float* grad_scale, void* stream);

}  // namespace hewn::kernels::cuda
