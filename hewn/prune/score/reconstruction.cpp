#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

// Share of the newest step in the running means, once that many steps were seen.
constexpr double kNewest = 0.01;

/// What dropping a block alone does to the layer's outputs: sqrt(tr(W_b' C_b W_b)), C_b being the covariance
/// of the inputs that meet the block. The bias, or the normalisation behind it, makes up for their mean. Only
/// blocks on the diagonal of the covariance are needed. Before any input is seen C is the identity, and the
/// score the magnitude.
class Reconstruction final : public Score {
 public:
  explicit Reconstruction(const ScoredWeight& weight) : grid_(weight.layout.grid) {
    const auto options = weight.leaf.options().requires_grad(false);
    products_ = at::eye(grid_.block.rows, options).repeat({grid_.row_blocks(), 1, 1});
    mean_ = at::zeros({grid_.row_blocks(), 1, grid_.block.rows}, options);
    steps_ = at::zeros({}, at::kLong);
  }

  at::Tensor gate(const ScoredWeight&) const override { return {}; }

  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    const at::Tensor covariance = products_ - at::bmm(mean_.transpose(1, 2), mean_);
    // Outputs x (H, W, channel) for a convolution, whatever the memory order.
    const at::Tensor& leaf = weight.leaf;
    const at::Tensor matrix = leaf.dim() == 4 ? leaf.permute({0, 2, 3, 1}).flatten(1) : leaf;
    const at::Tensor w = by_row_blocks(matrix).transpose(1, 2);  // row block x its rows x outputs
    const at::Tensor moved = (w * at::bmm(covariance, w)).sum(1);
    const int64_t missing = grid_.col_blocks() * grid_.block.cols - grid_.cols;
    const at::Tensor squares =
        at::constant_pad_nd(moved, {0, missing}).view({grid_.blocks(), grid_.block.cols}).sum(1).clamp_min(0);
    // As a share of the layer's, so that layers compare.
    return (squares / squares.sum().clamp_min(1e-30)).sqrt();
  }

  std::vector<ScoreMemory> memory() const override {
    return {{"products", products_}, {"mean", mean_}, {"steps", steps_}};
  }
  bool sees_inputs() const override { return true; }

  void see(const at::Tensor& rows) override {
    const at::Tensor x = by_row_blocks(rows.to(products_.scalar_type()));
    const double newest = std::max(kNewest, 1.0 / static_cast<double>(steps_.item<int64_t>() + 1));
    products_.lerp_(at::bmm(x.transpose(1, 2), x) / static_cast<double>(rows.size(0)), newest);
    mean_.lerp_(x.mean(1, /*keepdim=*/true), newest);
    steps_ += 1;
  }

 private:
  /// n x inputs -> row block x n x its rows, with zeros at a ragged edge.
  at::Tensor by_row_blocks(const at::Tensor& rows) const {
    const int64_t missing = grid_.row_blocks() * grid_.block.rows - grid_.rows;
    return at::constant_pad_nd(rows, {0, missing})
        .reshape({rows.size(0), grid_.row_blocks(), grid_.block.rows})
        .transpose(0, 1);
  }

  Grid grid_;
  at::Tensor products_;  // running mean of x x' over the rows of each row block
  at::Tensor mean_;      // and of x
  at::Tensor steps_;     // seen so far; on the CPU, so that no step waits for the device
};

}  // namespace

std::unique_ptr<Score> make_reconstruction(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Reconstruction>(weight);
}

}  // namespace hewn::prune
