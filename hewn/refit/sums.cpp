#include "hewn/refit/sums.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/flow/op/window/window.h"

namespace hewn::refit {
namespace {

using Floats = Eigen::MatrixXf;

constexpr int64_t kPiece = 2048;  // rows at a time

std::vector<int64_t> sampled_rows(int64_t all, const Sampling& sampling, uint64_t batch) {
  const auto wanted =
      std::min(all, static_cast<int64_t>(std::ceil(sampling.share * static_cast<double>(all))));
  std::vector<int64_t> out(static_cast<size_t>(wanted));
  const double step = static_cast<double>(all) / static_cast<double>(std::max<int64_t>(wanted, 1));
  for (int64_t i = 0; i < wanted; ++i) {
    const auto number = batch << 32 | static_cast<uint64_t>(i);
    const double at =
        wanted == all ? 0 : unit(draw(sampling.seed, Stream::kRows, sampling.stream, number)[0]);
    out[static_cast<size_t>(i)] =
        std::min(static_cast<int64_t>((static_cast<double>(i) + at) * step), all - 1);
  }
  return out;
}

flow::Window conv_geometry(const flow::Node& node, const flow::Tensor& input, const flow::Dims& kernel) {
  const flow::View view{input.spec(), nullptr};
  const flow::Call call{.node = &node, .in = {&view}, .out = {}};
  return flow::window_of(call, kernel);
}

/// What the window of an output pixel sees, as taps x channels.
void copy_window(const flow::Window& window, int64_t channels, const float* image, int64_t pixel, float* to) {
  const flow::Slide& high = window.high;
  const flow::Slide& wide = window.wide;
  const int64_t top = high.start(pixel / wide.out);
  const int64_t left = wide.start(pixel % wide.out);
  const int64_t plane = high.in * wide.in;
  for (int64_t tap_y = 0; tap_y < high.kernel; ++tap_y) {
    for (int64_t tap_x = 0; tap_x < wide.kernel; ++tap_x, to += channels) {
      const int64_t y = top + tap_y * high.dilation;
      const int64_t x = left + tap_x * wide.dilation;
      if (y < 0 || y >= high.in || x < 0 || x >= wide.in) {
        std::fill(to, to + channels, 0.0F);
        continue;
      }
      const float* from = image + y * wide.in + x;
      for (int64_t c = 0; c < channels; ++c) to[c] = from[c * plane];
    }
  }
}

class RowReader {
 public:
  RowReader(const flow::Node& node, const Layer& layer, const flow::Tensor& input, const flow::Tensor& output)
      : layer_(layer), x_(input.values<float>().data()), y_(output.values<float>().data()) {
    if (layer.kind == flow::WeightKind::kConv) window_ = conv_geometry(node, input, layer.kernel);
  }

  /// Row number `row` as one column of inputs and one of outputs.
  void copy(int64_t row, float* x, float* y) const {
    if (layer_.kind != flow::WeightKind::kConv) {
      std::copy_n(x_ + row * layer_.channels, layer_.channels, x);
      std::copy_n(y_ + row * layer_.outputs, layer_.outputs, y);
      return;
    }
    const int64_t pixels = window_.high.out * window_.wide.out;
    const int64_t image = row / pixels;
    const int64_t pixel = row % pixels;
    copy_window(window_, layer_.channels, x_ + image * layer_.channels * window_.high.in * window_.wide.in,
                pixel, x);
    const float* from = y_ + image * layer_.outputs * pixels + pixel;
    for (int64_t k = 0; k < layer_.outputs; ++k) y[k] = from[k * pixels];
  }

 private:
  const Layer& layer_;
  const float* x_;
  const float* y_;
  flow::Window window_;
};

void add_piece(const Floats& x, const Floats& y, Sums& sums) {
  // Sums of one piece fit a float; those of all do not.
  Floats products = Floats::Zero(x.rows(), x.rows());
  products.selfadjointView<Eigen::Lower>().rankUpdate(x);
  sums.xx.triangularView<Eigen::Lower>() += products.cast<double>();
  sums.xy += (x * y.transpose()).cast<double>();
  sums.x += x.rowwise().sum().cast<double>();
  sums.y += y.rowwise().sum().cast<double>();
  sums.yy += y.rowwise().squaredNorm().cast<double>();
  sums.count += static_cast<double>(x.cols());
}

}  // namespace

Sums::Sums(Index inputs, Index outputs)
    : xx(Matrix::Zero(inputs, inputs)),
      xy(Matrix::Zero(inputs, outputs)),
      x(Vector::Zero(inputs)),
      y(Vector::Zero(outputs)),
      yy(Vector::Zero(outputs)) {}

Vector Sums::errors(const Matrix& weight, const Vector& bias) const {
  const Matrix product = xx.selfadjointView<Eigen::Lower>() * weight;
  Vector out = yy - 2 * weight.cwiseProduct(xy).colwise().sum().transpose() - 2 * bias.cwiseProduct(y);
  out += weight.cwiseProduct(product).colwise().sum().transpose();
  out += 2 * bias.cwiseProduct(weight.transpose() * x) + count * bias.cwiseAbs2();
  return out.cwiseMax(0) / std::max(count, 1.0);
}

int64_t row_count(const Layer& layer, const flow::Tensor& output) {
  return output.elements() / layer.outputs;
}

void add_rows(const flow::Node& node, const Layer& layer, const flow::Tensor& input,
              const flow::Tensor& output, const Sampling& sampling, uint64_t batch, Sums& sums) {
  const RowReader reader(node, layer, input, output);
  const std::vector<int64_t> rows = sampled_rows(row_count(layer, output), sampling, batch);
  for (size_t first = 0; first < rows.size(); first += kPiece) {
    const size_t count = std::min<size_t>(kPiece, rows.size() - first);
    Floats x(layer.rows(), static_cast<Index>(count));
    Floats y(layer.outputs, static_cast<Index>(count));
    for (size_t i = 0; i < count; ++i) {
      reader.copy(rows[first + i], x.col(static_cast<Index>(i)).data(), y.col(static_cast<Index>(i)).data());
    }
    if (!x.allFinite() || !y.allFinite())
      throw Error(str("layer ", layer.name, ": its inputs are not finite"));
    add_piece(x, y, sums);
  }
}

}  // namespace hewn::refit
