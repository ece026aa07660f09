// Layers show their inputs, and as rows these are what the weight's matrix is multiplied with.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/nn/layers.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"

namespace hewn::nn {
namespace {

/// The weight as a matrix of blocks, element by element from its layout.
at::Tensor matrix_of(const at::Tensor& weight) {
  const WeightLayout layout = prune::layout_of(weight, BlockShape{});
  const at::Tensor flat = weight.detach().reshape({layout.grid.cols, layout.grid.rows});
  at::Tensor out = at::empty({layout.grid.rows, layout.grid.cols}, weight.options().requires_grad(false));
  for (int64_t column = 0; column < layout.grid.cols; ++column) {
    for (int64_t m = 0; m < layout.grid.rows; ++m) out[layout.row_of(m)][column] = flat[column][m];
  }
  return out;
}

TEST(Watch, RowsTimesTheMatrixIsTheLayer) {
  const at::NoGradGuard no_grad;
  at::manual_seed(3);
  Linear linear(6, 4);
  linear->to(at::kDouble);
  const at::Tensor x = at::randn({2, 5, 6}, at::kDouble);
  const at::Tensor by_rows = input_rows(*linear, x).mm(matrix_of(linear->weight)) + linear->bias;
  EXPECT_TRUE(at::allclose(by_rows.view({2, 5, 4}), linear->forward(x)));

  for (const auto& options : {torch::nn::Conv2dOptions(3, 5, 3).padding(1),
                              torch::nn::Conv2dOptions(3, 5, {2, 3}).stride(2).padding(1).dilation(2)}) {
    Conv2d conv(options);
    conv->to(at::kDouble);
    const at::Tensor images = at::randn({2, 3, 9, 8}, at::kDouble);
    const at::Tensor y = conv->forward(images);
    const at::Tensor rows = input_rows(*conv, images);
    EXPECT_EQ(rows.size(0), y.size(0) * y.size(2) * y.size(3));
    const at::Tensor product = rows.mm(matrix_of(conv->weight)) + conv->bias;
    EXPECT_TRUE(at::allclose(product.view({2, y.size(2), y.size(3), 5}).permute({0, 3, 1, 2}), y));
  }
}

TEST(Watch, EveryPassIsShownUntilItEnds) {
  Linear linear(6, 4);
  const auto slots = find_slots(*linear);
  int passes = 0;
  slots[0].watch([&](const at::Tensor& input) { passes += static_cast<int>(input.size(0)); });
  linear->forward(at::ones({2, 6}));
  linear->forward(at::ones({3, 6}));
  slots[0].watch(nullptr);
  linear->forward(at::ones({7, 6}));
  EXPECT_EQ(passes, 5);
}

}  // namespace
}  // namespace hewn::nn
