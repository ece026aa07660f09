#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <sys/mman.h>

#include <algorithm>

#include "hewn/core/grid.h"
#include "hewn/kernels/bsr.h"

namespace hewn::tensor {

template <class T>
T* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

/// Whether an element lies at the same offset in both. Along a side of 1 a stride says nothing.
inline bool same_order(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return false;
  for (int64_t side = 0; side < a.dim(); ++side) {
    if (a.size(side) > 1 && a.stride(side) != b.stride(side)) return false;
  }
  return true;
}

/// The tensor in the memory order of `weight`, so that both can be walked with one offset; copied only where
/// it must be.
inline at::Tensor in_order_of(const at::Tensor& weight, const at::Tensor& tensor) {
  if (same_order(weight, tensor)) return tensor;
  at::Tensor out = at::empty_like(weight, weight.options().dtype(tensor.scalar_type()));
  out.copy_(tensor);
  return out;
}

/// Asks for large pages where a CPU tensor fills many: rows of a table are read here and there, and finding
/// their pages costs more than reading them. Only a wish, and only before the memory is first written.
inline void prefer_large_pages(const at::Tensor& tensor) {
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  if (tensor.is_cuda()) return;
  char* data = static_cast<char*>(tensor.data_ptr());
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(data) % kPage) % kPage;
  if (tensor.nbytes() < before + kPage) return;
  madvise(data + before, (tensor.nbytes() - before) / kPage * kPage, MADV_HUGEPAGE);
}

/// Elements per thread that pay for waking it up.
constexpr int64_t kGrain = 32768;

/// Runs body(begin, end) over the column blocks of a weight on all threads.
template <class Body>
void share_columns(const WeightLayout& layout, const Body& body) {
  const int64_t per_column_block = std::max<int64_t>(1, layout.grid.rows * layout.grid.block.cols);
  at::parallel_for(0, layout.grid.col_blocks(), std::max<int64_t>(1, kGrain / per_column_block), body);
}

/// The same over the output blocks of a pattern, by what they keep.
template <class Body>
void share_kept(const kernels::BsrPattern& pattern, const Body& body) {
  const int64_t blocks = pattern.grid.col_blocks();
  const int64_t per_block = std::max<int64_t>(1, pattern.value_floats() / std::max<int64_t>(1, blocks));
  at::parallel_for(0, blocks, std::max<int64_t>(1, kGrain / per_block), body);
}

}  // namespace hewn::tensor
