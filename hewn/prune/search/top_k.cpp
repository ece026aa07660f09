#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/search/search.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

/// All layers in one launch.
std::vector<at::Tensor> on_gpu(const std::vector<Candidates>& layers) {
  std::vector<at::Tensor> supports;
  std::vector<at::Tensor> alive;
  std::vector<kernels::cuda::TopKItem> items;
  for (const Candidates& layer : layers) {
    const at::Tensor importance = layer.importance.detach().contiguous();
    supports.push_back(layer.memory.defined()
                           ? layer.memory
                           : at::empty({importance.numel()}, importance.options().dtype(at::kByte)));
    items.push_back({importance.data_ptr<float>(), tensor::data_or_null<uint8_t>(layer.within),
                     supports.back().data_ptr<uint8_t>(), importance.numel(), layer.keep});
    alive.push_back(importance);
  }
  if (!items.empty()) kernels::cuda::top_k(items, tensor::current_stream(alive.front()));
  return supports;
}

}  // namespace

at::Tensor top_k(const at::Tensor& importance, int64_t keep, const at::Tensor& within) {
  if (importance.is_cuda()) return on_gpu({{importance, within, keep}}).front();
  at::Tensor ranked = importance.detach();
  if (within.defined()) {
    ranked = ranked.masked_fill(within == 0, -std::numeric_limits<double>::infinity());
  }
  // A stable sort is what breaks ties by the lowest index.
  const at::Tensor order = std::get<1>(at::sort(ranked, /*stable=*/true, /*dim=*/0, /*descending=*/true));
  at::Tensor support = at::zeros({importance.numel()}, importance.options().dtype(at::kByte));
  support.index_fill_(0, order.narrow(0, 0, keep), 1);
  return support;
}

std::vector<at::Tensor> per_layer(const std::vector<Candidates>& layers, const Limits& /*limits*/) {
  if (!layers.empty() && layers.front().importance.is_cuda()) return on_gpu(layers);
  std::vector<at::Tensor> supports;
  supports.reserve(layers.size());
  for (const Candidates& layer : layers)
    supports.push_back(top_k(layer.importance, layer.keep, layer.within));
  return supports;
}

}  // namespace hewn::prune
