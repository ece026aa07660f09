#include "hewn/refit/sums.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "hewn/flow/evaluate.h"
#include "hewn/refit/choose.h"
#include "hewn/refit/elimination.h"
#include "hewn/refit/walk.h"
#include "tests/refit/networks.h"

namespace hewn::refit {
namespace {

/// What a convolution sees, spelled out: row after row, with the padding.
Matrix naive_rows(const flow::Tensor& input, int64_t top, int64_t left, int64_t dilation, int64_t stride_y) {
  // The second convolution of small_convnet: kernel 3 x 2, strides 2 and 1, dilations 1 and 2.
  const flow::Dims& d = input.dims();
  const int64_t high = (d[2] + top + 1 - 3) / stride_y + 1;
  const int64_t wide = d[3] + left + 0 - (1 * dilation + 1) + 1;
  Matrix out(d[0] * high * wide, 3 * 2 * d[1]);
  Index row = 0;
  for (int64_t n = 0; n < d[0]; ++n) {
    for (int64_t y = 0; y < high; ++y) {
      for (int64_t x = 0; x < wide; ++x, ++row) {
        for (int64_t i = 0; i < 3; ++i) {
          for (int64_t j = 0; j < 2; ++j) {
            for (int64_t c = 0; c < d[1]; ++c) {
              const int64_t at_y = y * stride_y - top + i;
              const int64_t at_x = x - left + j * dilation;
              const bool inside = at_y >= 0 && at_y < d[2] && at_x >= 0 && at_x < d[3];
              const auto at = static_cast<size_t>(((n * d[1] + c) * d[2] + at_y) * d[3] + at_x);
              out(row, (i * 2 + j) * d[1] + c) = inside ? input.values<float>()[at] : 0;
            }
          }
        }
      }
    }
  }
  return out;
}

TEST(RefitSums, ConvolutionsAreSeenAsProducts) {
  const flow::Graph graph = small_convnet(21);
  const std::vector<Layer> layers = find_layers(graph);
  ASSERT_EQ(layers.size(), 3U);
  const Layer& layer = layers[1];
  const flow::Node& node = graph.nodes[layer.node];
  const flow::Tensor input = random_tensor({3, 10, 9, 9}, 4);
  const flow::Tensor output =
      flow::evaluate(node, {&input, graph.constant(node.inputs[1]), graph.constant(node.inputs[2])})[0];
  Sums sums(layer.rows(), layer.outputs);
  add_rows(node, layer, input, output, {}, 0, sums);
  const Matrix rows = naive_rows(input, 0, 1, 2, 2);
  ASSERT_EQ(static_cast<Index>(sums.count), rows.rows());
  const Matrix gram = rows.transpose() * rows;
  EXPECT_LT((Matrix(sums.xx.selfadjointView<Eigen::Lower>()) - gram).norm(), 1e-5 * gram.norm());
  EXPECT_LT((sums.x - rows.colwise().sum().transpose()).norm(), 1e-5 * rows.norm());
  // The layer's own weights reproduce its outputs: rows and outputs belong together, and so do weights.
  const Matrix weight = weight_matrix(graph, layer);
  EXPECT_LT(sums.errors(weight, layer.bias).sum(), 1e-5 * sums.yy.sum() / sums.count);
  EXPECT_GT(sums.errors(weight * 0.9, layer.bias).sum(), 1e-3 * sums.yy.sum() / sums.count);
}

TEST(RefitSums, SamplingTakesAShareOfTheRows) {
  const flow::Graph graph = small_convnet(21);
  const Layer layer = find_layers(graph)[2];
  const flow::Node& node = graph.nodes[layer.node];
  const flow::Tensor input = random_tensor({40, 12}, 4);
  const flow::Tensor output =
      flow::evaluate(node, {&input, graph.constant(node.inputs[1]), graph.constant(node.inputs[2])})[0];
  Sums sums(layer.rows(), layer.outputs);
  add_rows(node, layer, input, output, {.seed = 3, .stream = 0, .share = 0.25}, 0, sums);
  EXPECT_EQ(sums.count, 10);
  EXPECT_LT(sums.errors(weight_matrix(graph, layer) * layer.scale, layer.bias).sum(), 1e-6 * sums.yy.sum());
}

TEST(RefitElimination, CostsAreThoseOfFittingAnew) {
  for (const int64_t block : {3, 4}) {  // 14 rows: the last block is smaller
    const Grid grid{14, 5, {block, 5}};
    Matrix rows(40, 14);
    Matrix targets(14, 5);
    const auto fill = [](Matrix& matrix, const flow::Tensor& from) {
      for (Index i = 0; i < matrix.size(); ++i)
        matrix.data()[i] = from.values<float>()[static_cast<size_t>(i)];
    };
    fill(rows, random_tensor({40, 14}, 8));
    fill(targets, random_tensor({14, 5}, 9));
    Quadratic problem{rows.transpose() * rows, targets, Vector::Ones(5), grid};
    const auto value = [&](const Matrix& b) { return b.cwiseProduct(problem.h * b / 2 - problem.t).sum(); };
    Flags kept(static_cast<size_t>(grid.blocks()), 1);
    double before = value(fit(problem, kept, 1));
    const auto order = eliminate(problem.h.inverse(), problem.h.inverse() * problem.t, block, kept);
    ASSERT_EQ(order.size(), kept.size());
    for (const Leaving& leaving : order) {
      double least = 1e300;
      for (size_t other = 0; other < kept.size(); ++other) {
        if (kept[other] == 0) continue;
        Flags without = kept;
        without[other] = 0;
        least = std::min(least, value(fit(problem, without, 1)) - before);
      }
      kept[static_cast<size_t>(leaving.row)] = 0;
      const double after = value(fit(problem, kept, 1));
      EXPECT_NEAR(after - before, leaving.cost, 1e-8);
      EXPECT_NEAR(least, leaving.cost, 1e-8);
      before = after;
    }
  }
}

TEST(RefitWalk, PartsOneAfterTheOtherAreTheWhole) {
  const flow::Graph graph = small_convnet(2);
  const flow::Tensor input = random_tensor({5, 4, 9, 9}, 1);
  const flow::Tensor expected = flow::evaluate(graph, {input})[0];
  Values values = {{graph.inputs[0].value, input}};
  for (const auto& [first, last] :
       {std::pair<size_t, size_t>{0, 0}, {0, 3}, {3, 4}, {4, graph.nodes.size()}}) {
    values = Part(graph, first, last, values).run(values);
  }
  ASSERT_EQ(values.size(), 1U);
  const flow::Tensor& got = values.at(graph.outputs[0].value);
  for (size_t i = 0; i < expected.values<float>().size(); ++i) {
    EXPECT_NEAR(got.values<float>()[i], expected.values<float>()[i], 1e-4);
  }
}

}  // namespace
}  // namespace hewn::refit
