// Products on kept blocks against dense ones in double precision, with outputs that begin as NaN.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/nn/kept/product.h"
#include "hewn/prune/gate.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"
#include "hewn/train/step/step_graph.h"

namespace hewn {
namespace {

using namespace kernels::cuda::block_sparse;

struct Shape {
  int64_t samples, inputs, outputs;
};
const std::vector<Shape> kShapes = {
    {200, 320, 400}, {1, 128, 64}, {300, 1000, 520}, {257, 104, 72}, {33, 37, 51}};
const std::vector<BlockShape> kBlocks = {{16, 16}, {32, 32}, {64, 64}, {128, 128}, {20, 20}, {8, 8},
                                         {5, 5},   {4, 4},   {10, 10}, {64, 128},  {128, 32}};
constexpr double kOne = -1;  // a single kept block

at::ScalarType type_of(Operand type) {
  if (type == Operand::kTf32) return at::kFloat;
  return type == Operand::kHalf ? at::kHalf : at::kBFloat16;
}

at::Tensor some_support(const Grid& grid, double density) {
  const at::Tensor order = at::rand({grid.blocks()}, at::kCUDA).argsort();
  const auto keep =
      density == kOne ? int64_t{1} : static_cast<int64_t>(density * static_cast<double>(grid.blocks()));
  return (order < keep).to(at::kByte);
}

/// The weight with zeros outside of the kept blocks.
at::Tensor masked(const at::Tensor& weight, const at::Tensor& support, const Grid& grid) {
  return prune::block_scale(weight.to(at::kFloat), at::Tensor(), support, {grid, 1});
}

at::Tensor poisoned(at::IntArrayRef shape, at::ScalarType type) {
  return at::full(shape, std::numeric_limits<double>::quiet_NaN(), at::TensorOptions(at::kCUDA).dtype(type));
}

void expect_close(const at::Tensor& out, const at::Tensor& expected, double limit, const std::string& what) {
  const double norm = expected.norm().item<double>();
  const double error = (out.to(at::kDouble) - expected).norm().item<double>();
  EXPECT_LE(error, limit * (norm > 0 ? norm : 1)) << what;
}

double rounding(Operand type) { return type == Operand::kBf16 ? 4e-3 : 1.2e-3; }

struct ProductCase {
  Shape shape;
  BlockShape block;
  double density;
  Operand type;
  bool transposed, bias, residual, relu;
};

void check_product(const ProductCase& c) {
  const auto [samples, inputs, outputs] = c.shape;
  const Grid grid{c.transposed ? outputs : inputs, c.transposed ? inputs : outputs, c.block};
  const Product product(grid, c.type, c.transposed);
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(type_of(c.type));
  const at::Tensor x = at::randn({samples, inputs}, options);
  const at::Tensor weight = at::randn({grid.cols, grid.rows}, options);
  const at::Tensor bias = c.bias ? at::randn({outputs}, at::kCUDA) : at::Tensor();
  const at::Tensor residual = c.residual ? at::randn({samples, outputs}, options) : at::Tensor();
  const at::Tensor support = some_support(grid, c.density);
  const at::Tensor lists =
      at::full({product.list_bytes()}, 255, at::TensorOptions(at::kCUDA).dtype(at::kByte));
  const at::Tensor values = at::full({product.value_bytes()}, 255, lists.options());
  const at::Tensor y = poisoned({samples, outputs}, type_of(c.type));
  void* stream = tensor::current_stream(x);
  find_tiles(product, support.data_ptr<uint8_t>(), lists.data_ptr(), stream);
  pack(product, {weight.data_ptr(), Source::kOperand, nullptr, support.data_ptr<uint8_t>()}, lists.data_ptr(),
       values.data_ptr(), stream);
  Samples call{x.data_ptr(), samples, y.data_ptr(), tensor::data_or_null<float>(bias)};
  call.residual = residual.defined() ? residual.data_ptr() : nullptr;
  call.relu = c.relu;
  multiply(product, lists.data_ptr(), values.data_ptr(), call, stream);
  const at::Tensor kept = masked(weight, support, grid).to(at::kDouble);
  at::Tensor expected = at::mm(x.to(at::kDouble), c.transposed ? kept : kept.t());
  if (c.bias) expected = expected + bias;
  if (c.residual) expected = expected + residual.to(at::kDouble);
  if (c.relu) expected = expected.relu();
  expect_close(
      y, expected, rounding(c.type),
      hewn::str(samples, " x ", inputs, " x ", outputs, ", blocks ", to_string(c.block), ", density ",
                c.density, ", type ", static_cast<int>(c.type), c.transposed ? ", transposed" : ""));
}

TEST(BlockSparse, ProductsEqualTheDenseOnes) {
  at::manual_seed(1);
  int number = 0;
  for (const Operand type : {Operand::kBf16, Operand::kHalf, Operand::kTf32}) {
    for (const Shape& shape : kShapes) {
      for (const BlockShape& block : kBlocks) {
        for (const double density : {0.0, kOne, 0.1, 0.5, 1.0}) {
          ++number;
          check_product({shape, block, density, type, number % 2 == 0, number % 3 == 0, number % 5 == 0,
                         number % 7 == 0});
        }
      }
    }
  }
}

TEST(BlockSparse, WeightGradientsEqualTheDenseOnes) {
  if (architecture() != 90) GTEST_SKIP() << "for Hopper";
  at::manual_seed(2);
  for (const Operand type : {Operand::kBf16, Operand::kHalf}) {
    for (const Shape& shape : {Shape{200, 320, 400}, Shape{1, 128, 64}, Shape{1500, 1000, 520}}) {
      for (const BlockShape& block : {BlockShape{64, 64}, BlockShape{128, 128}, BlockShape{64, 128}}) {
        for (const double density : {0.0, kOne, 0.1, 1.0}) {
          const Grid grid{shape.inputs, shape.outputs, block};
          const WeightGradient gradient(grid, type, gradient_tiles(grid, 1), shape.samples);
          const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(type_of(type));
          const at::Tensor x = at::randn({shape.samples, shape.inputs}, options);
          const at::Tensor dy = at::randn({shape.samples, shape.outputs}, options);
          const at::Tensor support = some_support(grid, density);
          const at::Tensor lists = at::empty({gradient.list_bytes()}, options.dtype(at::kByte));
          const at::Tensor sums = at::full({gradient.sum_bytes()}, 255, options.dtype(at::kByte));
          const at::Tensor grad = poisoned({grid.cols, grid.rows}, at::kFloat);
          void* stream = tensor::current_stream(x);
          find_pairs(gradient, support.data_ptr<uint8_t>(), lists.data_ptr(), stream);
          grad_weight(
              gradient, lists.data_ptr(), sums.data_ptr(),
              {x.data_ptr(), dy.data_ptr(), support.data_ptr<uint8_t>(), grad.data_ptr(), Source::kFloat},
              stream);
          const at::Tensor whole = at::mm(dy.to(at::kDouble).t(), x.to(at::kDouble));
          expect_close(grad, masked(whole, support, grid).to(at::kDouble), 1e-5, to_string(block));
        }
      }
    }
  }
}

TEST(BlockSparse, GradientsOfALayerEqualTheDenseOnes) {
  at::manual_seed(3);
  const Grid grid{512, 768, {64, 64}};
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const prune::KeptBlocks kept{grid, some_support(grid, 0.2), 0.2};
  const at::Tensor weight = masked(at::randn({768, 512}, at::kCUDA), kept.support, grid).to(at::kBFloat16);
  const at::Tensor x = at::randn({5, 40, 512}, options);
  const at::Tensor dy = at::randn({5, 40, 768}, options);
  std::vector<std::vector<at::Tensor>> results;
  for (const bool sparse : {true, false}) {
    at::Tensor x2 = x.clone().set_requires_grad(true);
    at::Tensor w2 = weight.clone().set_requires_grad(true);
    at::Tensor b2 = at::ones({768}, at::kCUDA).set_requires_grad(true);
    const at::Tensor y = sparse ? nn::kept_product(x2, w2, b2, kept) : at::matmul(x2, w2.t()) + b2;
    y.backward(dy.to(y.scalar_type()));
    results.push_back({y.detach(), x2.grad(), masked(w2.grad(), kept.support, grid), b2.grad()});
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    expect_close(results[0][i], results[1][i].to(at::kDouble), 1e-2, hewn::str("result ", i));
  }
}

TEST(BlockSparse, ARecordedProductFollowsItsSupport) {
  at::manual_seed(4);
  const train::RecordableStream stream(at::kCUDA);
  const Grid grid{1024, 512, {32, 32}};
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const prune::KeptBlocks kept{grid, some_support(grid, 0.1), 0.1};
  const at::Tensor weight = at::randn({512, 1024}, options);
  const at::Tensor out = at::empty({256, 512}, options);
  const auto work = [&](const data::Batch& batch) {
    out.copy_(nn::kept_product(batch.input, weight, at::Tensor(), kept));
  };
  train::StepGraph graph;
  for (int step = 0; step < 8; ++step) {
    kept.support.copy_(some_support(grid, 0.1));
    const data::Batch batch{at::randn({256, 1024}, options), at::zeros({256}, at::kCUDA)};
    graph.run(0, batch, work);
    const at::Tensor replayed = out.clone();
    work(batch);
    EXPECT_TRUE(at::equal(replayed, out)) << step;
  }
}

}  // namespace
}  // namespace hewn
