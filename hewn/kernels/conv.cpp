#include "hewn/kernels/conv.h"

#include <algorithm>
#include <array>

namespace hewn::kernels {
namespace {

constexpr int64_t kScratchFloats = int64_t{128} * 1024;  // half a megabyte

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// Pixels that lie one behind the other in an image, and how far apart.
struct Line {
  const float* from;
  int64_t channel_stride;
  int64_t pixel_stride;
  int64_t pixels;
};

/// Copies `count` channels of a line so that a pixel's channels lie side by side, `step` floats from one
/// pixel to the next.
void gather_channels(const Line& line, int64_t count, float* to, int64_t step) {
  const auto [from, channel_stride, pixel_stride, pixels] = line;
  int64_t c = 0;
  // Eight planes at once where pixels lie side by side in memory.
  for (; pixel_stride == 1 && c + 8 <= count; c += 8) {
    machine().pack_eight(from + c * channel_stride, channel_stride, to + c, step, pixels);
  }
  for (int64_t i = 0; c < count && i < pixels; ++i) {
    for (int64_t k = c; k < count; ++k) to[i * step + k] = from[k * channel_stride + i * pixel_stride];
  }
}

}  // namespace

ConvShape ConvShape::of(const ConvGeometry& geometry, int64_t in_channels, int64_t height, int64_t width,
                        int64_t out_channels) {
  return {geometry,
          {in_channels, height, width, geometry.padding},
          {out_channels, geometry.out_size(height, geometry.kernel_height),
           geometry.out_size(width, geometry.kernel_width), 0}};
}

int64_t ConvShape::gradient_border() const {
  int64_t border = 0;
  for (const auto& [size, outs, kernel] : {std::array{in.height, out.height, geometry.kernel_height},
                                           {in.width, out.width, geometry.kernel_width}}) {
    const int64_t before = geometry.dilation * (kernel - 1) - geometry.padding;
    border = std::max(border, (before + geometry.stride - 1) / geometry.stride);
    border = std::max(border, (size - 1 + geometry.padding) / geometry.stride - (outs - 1));
  }
  return border;
}

std::vector<Position> conv_positions(const ConvShape& shape) {
  std::vector<Position> positions;
  const int64_t stride = shape.geometry.stride;
  const int64_t padding = shape.geometry.padding;
  for (int64_t y = 0; y < shape.out.height; ++y) {
    for (int64_t x = 0; x < shape.out.width; ++x) {
      positions.push_back({shape.in.row(y * stride - padding, x * stride - padding), shape.out.row(y, x)});
    }
  }
  return positions;
}

std::vector<InputGradient> conv_input_gradient(const BsrPattern& pattern, const ConvShape& shape) {
  const ConvGeometry& g = shape.geometry;
  std::vector<InputGradient> phases;
  for (int64_t phase_y = 0; phase_y < g.stride; ++phase_y) {
    for (int64_t phase_x = 0; phase_x < g.stride; ++phase_x) {
      InputGradient phase{Packed::conv_transposed(pattern, g, shape.out, phase_y, phase_x), {}};
      for (int64_t y = 0; y < shape.in.height; ++y) {
        if ((y + g.padding) % g.stride != phase_y) continue;
        for (int64_t x = 0; x < shape.in.width; ++x) {
          if ((x + g.padding) % g.stride != phase_x) continue;
          phase.positions.push_back(
              {shape.out.row((y + g.padding) / g.stride, (x + g.padding) / g.stride), shape.in.row(y, x)});
        }
      }
      if (!phase.positions.empty()) phases.push_back(std::move(phase));
    }
  }
  return phases;
}

ConvWeightGradient::ConvWeightGradient(const BsrPattern& pattern, const ConvShape& shape)
    : pattern_(pattern), shape_(shape) {
  const ConvGeometry& g = shape.geometry;
  const int64_t block = pattern.grid.block.rows;
  line_ = round_up(shape.in.width + 2 * g.padding, g.stride);
  lines_ = shape.in.height + 2 * g.padding;
  // Blocks that straddle taps find their channels only where all of them lie side by side.
  channel_block_ = shape.in.channels % block == 0 ? block : shape.in.channels;
  channel_size_ = round_up(channel_block_, kColumnStep);
  const int64_t x_image = shape.in.channels / channel_block_ * channel_size_ * line_ * lines_;
  const int64_t dy_image =
      pattern.grid.col_blocks() * pattern.grid.block.cols * shape.out.height * shape.out.width;
  images_ = std::max<int64_t>(1, kScratchFloats / (x_image + dy_image));
  // A tile may read past the last pixel's channels and throws away what it gets.
  x_floats_ = images_ * x_image + machine().panel_width + g.stride * line_ * channel_size_;
  dy_floats_ = images_ * dy_image;
}

void ConvWeightGradient::pack(const float* x, const float* dy, bool channels_last, int64_t count,
                              int64_t begin, int64_t end, float* scratch) const {
  const ImageShape& in = shape_.in;
  const ImageShape& out = shape_.out;
  const int64_t padding = shape_.geometry.padding;
  const int64_t in_pixels = in.height * in.width;
  const int64_t out_pixels = out.height * out.width;
  for (int64_t n = begin; n < end; ++n) {
    const float* image = x + n * in.channels * in_pixels;
    for (int64_t c0 = 0; c0 < in.channels; c0 += channel_block_) {
      float* to = scratch + (c0 / channel_block_ * count + n) * lines_ * line_ * channel_size_;
      std::fill_n(to, lines_ * line_ * channel_size_, 0.0F);
      for (int64_t y = 0; y < in.height; ++y) {
        const Line line = channels_last
                              ? Line{image + y * in.width * in.channels + c0, 1, in.channels, in.width}
                              : Line{image + c0 * in_pixels + y * in.width, in_pixels, 1, in.width};
        gather_channels(line, channel_block_, to + ((y + padding) * line_ + padding) * channel_size_,
                        channel_size_);
      }
    }
    const int64_t block = pattern_.grid.block.cols;
    const float* gradient = dy + n * out.channels * out_pixels;
    for (int64_t o0 = 0; o0 < out.channels; o0 += block) {
      float* to = scratch + x_floats_ + (o0 / block * count + n) * out_pixels * block;
      const int64_t outputs = std::min(block, out.channels - o0);
      const Line line = channels_last ? Line{gradient + o0, 1, out.channels, out_pixels}
                                      : Line{gradient + o0 * out_pixels, out_pixels, 1, out_pixels};
      gather_channels(line, outputs, to, block);
      for (int64_t i = 0; outputs < block && i < out_pixels; ++i) {
        std::fill(to + i * block + outputs, to + (i + 1) * block, 0.0F);
      }
    }
  }
}

void ConvWeightGradient::add(const float* scratch, int64_t count, bool accumulate, float* grad, int64_t begin,
                             int64_t end) const {
  const ConvGeometry& g = shape_.geometry;
  const Grid& grid = pattern_.grid;
  const auto run_tile = machine().tile;
  const int64_t width = machine().panel_width;
  const int64_t outputs = machine().tile_outputs;
  std::vector<Run> runs;
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t y = 0; y < shape_.out.height; ++y) {
      runs.push_back({static_cast<int32_t>((n * lines_ + y * g.stride) * line_ / g.stride),
                      static_cast<int32_t>(shape_.out.width)});
    }
  }
  std::array<float, static_cast<size_t>(kMaxOutputs) * 64> result{};
  TileArguments t;
  t.runs = runs.data();
  t.run_count = static_cast<int64_t>(runs.size());
  t.in_stride = g.stride * channel_size_;
  t.weight_stride = grid.block.cols;
  t.out = result.data();
  const int64_t pixels = count * shape_.out.height * shape_.out.width;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const float* dy = scratch + x_floats_ + col_block * pixels * grid.block.cols;
    for (int64_t i = pattern_.begin[static_cast<size_t>(col_block)];
         i < pattern_.begin[static_cast<size_t>(col_block) + 1]; ++i) {
      const int64_t first_row = pattern_.row[static_cast<size_t>(i)] * grid.block.rows;
      const int64_t last_row = std::min(first_row + grid.block.rows, grid.rows);
      float* block = grad + i * pattern_.block_floats();
      if (!accumulate) std::fill_n(block, pattern_.block_floats(), 0.0F);
      for (int64_t row = first_row; row < last_row;) {
        const int64_t tap = row / shape_.in.channels;
        const int64_t channel = row % shape_.in.channels;
        // As many channels of this tap as lie side by side and fit a tile.
        const int64_t rows = std::min({last_row - row, shape_.in.channels - channel, width});
        const int64_t shift = tap / g.kernel_width * g.dilation * line_ + tap % g.kernel_width * g.dilation;
        t.in = scratch + (channel / channel_block_ * count * lines_ * line_ + shift) * channel_size_ +
               channel % channel_block_;
        t.columns = round_up(rows, kColumnStep);
        t.out_stride = t.columns;
        for (int64_t c = 0; c < grid.block.cols; c += outputs) {
          t.weight = dy + c;
          t.outputs = std::min(outputs, grid.block.cols - c);
          run_tile(t);
          for (int64_t j = 0; j < t.outputs; ++j) {
            float* to = block + (c + j) * grid.block.rows + row - first_row;
            for (int64_t k = 0; k < rows; ++k) to[k] += result[static_cast<size_t>(j * t.columns + k)];
          }
        }
        row += rows;
      }
    }
  }
}

}  // namespace hewn::kernels
