// How fast are products with kept blocks on a GPU? Forward pass, input gradient and weight gradient of one
// Linear layer in bf16, each beside the dense product of the same shape (cuBLAS, through LibTorch): medians
// of CUDA-event timings, the two alternating, inputs rotating among several so that they do not stay in the
// cache. The lists and the packed weight are made once and timed apart.
//
// usage: bench_gpu_kernels SAMPLES INPUTS OUTPUTS BLOCK SPARSITY...
#include <ATen/ATen.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "hewn/core/json.h"
#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/tensor/stream.h"

namespace hewn::bench {
namespace {

using namespace kernels::cuda::block_sparse;

constexpr int kRounds = 15;
constexpr int kLaunches = 4;  // between two events, so that the GPU does not wait for the CPU
constexpr size_t kSets = 3;

using Work = std::function<void(size_t set)>;

double milliseconds(const Work& work, size_t round, void* stream) {
  cudaEvent_t begin;
  cudaEvent_t end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, static_cast<cudaStream_t>(stream));
  for (int i = 0; i < kLaunches; ++i) work((round + static_cast<size_t>(i)) % kSets);
  cudaEventRecord(end, static_cast<cudaStream_t>(stream));
  cudaEventSynchronize(end);
  float passed = 0;
  cudaEventElapsedTime(&passed, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return passed / kLaunches;
}

/// Medians of both, timed in turns.
std::pair<double, double> compare(const Work& dense, const Work& sparse, void* stream) {
  std::vector<double> a;
  std::vector<double> b;
  for (size_t round = 0; round < kRounds + 2; ++round) {
    const double first = milliseconds(dense, round, stream);
    const double second = milliseconds(sparse, round, stream);
    if (round < 2) continue;  // libraries choose their algorithms
    a.push_back(first);
    b.push_back(second);
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return {a[a.size() / 2], b[b.size() / 2]};
}

at::Tensor bytes(int64_t size) { return at::empty({size}, at::TensorOptions(at::kCUDA).dtype(at::kByte)); }

struct Prepared {
  Product product;
  at::Tensor lists, values;

  Prepared(const Grid& grid, bool transposed, const at::Tensor& weight, const at::Tensor& support,
           void* stream)
      : product(grid, Operand::kBf16, transposed),
        lists(bytes(product.list_bytes())),
        values(bytes(product.value_bytes())) {
    prepare(weight, support, stream);
  }
  void prepare(const at::Tensor& weight, const at::Tensor& support, void* stream) const {
    find_tiles(product, support.data_ptr<uint8_t>(), lists.data_ptr(), stream);
    pack(product, {weight.data_ptr(), Source::kOperand, nullptr, support.data_ptr<uint8_t>()},
         lists.data_ptr(), values.data_ptr(), stream);
  }
  void run(const at::Tensor& x, const at::Tensor& y, void* stream) const {
    multiply(product, lists.data_ptr(), values.data_ptr(), {x.data_ptr(), x.size(0), y.data_ptr()}, stream);
  }
};

struct Layer {
  Grid grid;
  at::Tensor weight;
  std::vector<at::Tensor> x, y;
};

void report(const char* what, double sparsity, std::pair<double, double> ms, Json& rows) {
  std::printf("%-16s %5.1f %%  dense %.4f ms  kept blocks %.4f ms  %.2fx\n", what, 100 * sparsity, ms.first,
              ms.second, ms.first / ms.second);
  rows.push_back({{"what", what}, {"sparsity", sparsity}, {"dense_ms", ms.first}, {"ms", ms.second}});
}

void time_layer(const Layer& layer, double sparsity, Json& rows) {
  void* stream = tensor::current_stream(layer.weight);
  const Grid& grid = layer.grid;
  const int64_t keep = blocks_to_keep(grid.blocks(), sparsity);
  const at::Tensor support = (at::rand({grid.blocks()}, at::kCUDA).argsort().argsort() < keep).to(at::kByte);
  const Prepared forward(grid, false, layer.weight, support, stream);
  const Prepared backward(grid, true, layer.weight, support, stream);
  const auto into = [](const at::Tensor& to, const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out = to;
    at::mm_out(out, a, b);
  };
  const auto y_of_x = [&](size_t s) { into(layer.y[s], layer.x[s], layer.weight.t()); };
  const auto x_of_y = [&](size_t s) { into(layer.x[s], layer.y[s], layer.weight); };
  report("forward", sparsity,
         compare(
             y_of_x, [&](size_t s) { forward.run(layer.x[s], layer.y[s], stream); }, stream),
         rows);
  report("lists and values", sparsity,
         compare(
             y_of_x, [&](size_t) { forward.prepare(layer.weight, support, stream); }, stream),
         rows);
  for (const at::Tensor& y : layer.y) y.normal_();
  report("input gradient", sparsity,
         compare(
             x_of_y, [&](size_t s) { backward.run(layer.y[s], layer.x[s], stream); }, stream),
         rows);
  for (const at::Tensor& x : layer.x) x.normal_();
  const double density = static_cast<double>(keep) / static_cast<double>(grid.blocks());
  if (!prefers_grad_weight(grid, Operand::kBf16, density)) return;
  const WeightGradient gradient(grid, Operand::kBf16, gradient_tiles(grid, density), layer.x[0].size(0));
  const at::Tensor lists = bytes(gradient.list_bytes());
  const at::Tensor sums = bytes(gradient.sum_bytes());
  const at::Tensor grad = at::empty_like(layer.weight);
  find_pairs(gradient, support.data_ptr<uint8_t>(), lists.data_ptr(), stream);
  report("weight gradient", sparsity,
         compare([&](size_t s) { into(grad, layer.y[s].t(), layer.x[s]); },
                 [&](size_t s) {
                   grad_weight(gradient, lists.data_ptr(), sums.data_ptr(),
                               {layer.x[s].data_ptr(), layer.y[s].data_ptr(), support.data_ptr<uint8_t>(),
                                grad.data_ptr(), Source::kOperand, false},
                               stream);
                 },
                 stream),
         rows);
}

int run(int count, char** arguments) {
  if (count < 6) {
    std::fprintf(stderr, "usage: bench_gpu_kernels SAMPLES INPUTS OUTPUTS BLOCK SPARSITY...\n");
    return 2;
  }
  const int64_t samples = std::atoll(arguments[1]);
  const Grid grid{std::atoll(arguments[2]), std::atoll(arguments[3]), parse_block(arguments[4])};
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  at::manual_seed(1);
  Layer layer{grid, at::randn({grid.cols, grid.rows}, options), {}, {}};
  for (size_t s = 0; s < kSets; ++s) {
    layer.x.push_back(at::randn({samples, grid.rows}, options));
    layer.y.push_back(at::randn({samples, grid.cols}, options));
  }
  Json rows = Json::array();
  for (int i = 5; i < count; ++i) time_layer(layer, std::atof(arguments[i]), rows);
  std::printf("%s\n", rows.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace hewn::bench

int main(int count, char** arguments) { return hewn::bench::run(count, arguments); }
