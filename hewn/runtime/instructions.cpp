#include "hewn/runtime/instructions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "hewn/kernels/multiply.h"

namespace hewn::runtime {
namespace {

using kernels::ImageShape;
using kernels::Position;

// Output pixels for which a tile's weights are used before the next tile. Of 1, 2, 4, 8 and 16, 4 was the
// fastest on resnet18 by a few per cent.
constexpr int64_t kGroup = 4;

struct Range {
  int64_t begin;
  int64_t end;
};
Range share(int64_t total, int64_t part, int64_t parts) {
  return {total * part / parts, total * (part + 1) / parts};
}

/// An instruction's values in one panel.
class Work {
 public:
  Work(const Program& program, const Instruction& what, const PanelView& panel)
      : instruction(what),
        in(image(program, what.in)),
        out(image(program, what.out)),
        columns(panel.columns) {
    from = data(program, panel, what.in);
    to = data(program, panel, what.out);
    if (what.add >= 0) add = data(program, panel, what.add);
  }

  const Instruction& instruction;
  const ImageShape& in;
  const ImageShape& out;
  const int64_t columns;
  const float* from = nullptr;
  const float* add = nullptr;
  float* to = nullptr;

 private:
  static const ImageShape& image(const Program& program, int32_t value) {
    return program.values[static_cast<size_t>(value)].image;
  }
  static float* data(const Program& program, const PanelView& panel, int32_t value) {
    return panel.buffers[static_cast<size_t>(program.values[static_cast<size_t>(value)].buffer)];
  }
};

/// The tiles of outputs [outputs.begin, outputs.end): one range, or one per chunk of a long input.
void multiply_outputs(const kernels::Packed& weight, const Work& work, std::span<const Position> positions,
                      const kernels::Epilogue& epilogue, const Range& outputs) {
  const auto& tiles = weight.tiles();
  const auto inside = [&](size_t i) {
    return tiles[i].output >= outputs.begin && tiles[i].output < outputs.end;
  };
  for (size_t begin = 0; begin < tiles.size(); ++begin) {
    if (!inside(begin)) continue;
    size_t end = begin + 1;
    while (end < tiles.size() && inside(end)) ++end;
    kernels::multiply(weight, work.from, work.to, work.columns, positions, epilogue,
                      static_cast<int64_t>(begin), static_cast<int64_t>(end));
    begin = end;
  }
}

/// A linear layer is a convolution with one pixel. Groups of pixels are shared out; where there are fewer
/// than shares, so are the outputs.
void product(const PackedLayer& layer, const Work& work, int64_t part, int64_t parts) {
  const kernels::ConvGeometry& window = work.instruction.window;
  const kernels::Epilogue epilogue{layer.bias.data(), work.add, work.instruction.relu};
  const int64_t line_groups = (work.out.width + kGroup - 1) / kGroup;
  const int64_t groups = line_groups * work.out.height;
  const int64_t cuts = (parts + groups - 1) / groups;
  const Range tasks = share(groups * cuts, part, parts);
  for (int64_t task = tasks.begin; task < tasks.end; ++task) {
    const int64_t y = task / cuts / line_groups;
    const Range line = share(work.out.width, task / cuts % line_groups, line_groups);
    std::array<Position, static_cast<size_t>(kGroup)> positions;
    for (int64_t x = line.begin; x < line.end; ++x) {
      const int64_t shift = window.padding;
      positions[static_cast<size_t>(x - line.begin)] = {
          work.in.row(y * window.stride - shift, x * window.stride - shift), work.out.row(y, x)};
    }
    const std::span<const Position> group(positions.data(), static_cast<size_t>(line.end - line.begin));
    if (cuts == 1) {
      kernels::multiply(layer.weight, work.from, work.to, work.columns, group, epilogue, 0,
                        layer.weight.tile_count());
    } else {
      multiply_outputs(layer.weight, work, group, epilogue, share(layer.weight.outputs(), task % cuts, cuts));
    }
  }
}

/// out = max(0, in + add), as far as asked for. Borders are zero and stay zero.
void add(const Work& work, int64_t part, int64_t parts) {
  const Range range = share(work.out.rows(), part, parts);
  const float least = work.instruction.relu ? 0.0F : -std::numeric_limits<float>::infinity();
  const float* a = work.from;
  const float* b = work.add;
  for (int64_t i = range.begin * work.columns; i < range.end * work.columns; ++i) {
    const float sum = b == nullptr ? a[i] : a[i] + b[i];
    work.to[i] = sum < least ? least : sum;
  }
}

void max_pool(const Work& work, int64_t part, int64_t parts) {
  const kernels::ConvGeometry& window = work.instruction.window;
  const int64_t floats = work.out.channels * work.columns;
  const Range range = share(work.out.height * work.out.width, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const int64_t y = pixel / work.out.width;
    const int64_t x = pixel % work.out.width;
    float* to = work.to + work.out.row(y, x) * work.columns;
    bool first = true;
    for (int64_t ky = 0; ky < window.kernel_height; ++ky) {
      const int64_t in_y = y * window.stride - window.padding + ky * window.dilation;
      if (in_y < 0 || in_y >= work.in.height) continue;
      for (int64_t kx = 0; kx < window.kernel_width; ++kx) {
        const int64_t in_x = x * window.stride - window.padding + kx * window.dilation;
        if (in_x < 0 || in_x >= work.in.width) continue;
        const float* from = work.from + work.in.row(in_y, in_x) * work.columns;
        if (first) {
          std::copy_n(from, floats, to);
        } else {
          for (int64_t i = 0; i < floats; ++i) to[i] = std::max(to[i], from[i]);
        }
        first = false;
      }
    }
    // A dilated window over a small image may meet nothing but padding.
    if (first) std::fill_n(to, floats, -std::numeric_limits<float>::infinity());
  }
}

void global_avg_pool(const Work& work, int64_t part, int64_t parts) {
  const Range channels = share(work.out.channels, part, parts);
  const int64_t begin = channels.begin * work.columns;
  const int64_t floats = channels.end * work.columns - begin;
  float* to = work.to + work.out.row(0, 0) * work.columns + begin;
  std::fill_n(to, floats, 0.0F);
  for (int64_t y = 0; y < work.in.height; ++y) {
    for (int64_t x = 0; x < work.in.width; ++x) {
      const float* from = work.from + work.in.row(y, x) * work.columns + begin;
      for (int64_t i = 0; i < floats; ++i) to[i] += from[i];
    }
  }
  const float scale = 1.0F / static_cast<float>(work.in.height * work.in.width);
  for (int64_t i = 0; i < floats; ++i) to[i] *= scale;
}

/// From (y, x, channel) to (channel, y, x).
void flatten(const Work& work, int64_t part, int64_t parts) {
  const int64_t pixels = work.in.height * work.in.width;
  const Range range = share(pixels, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const float* from = work.from + work.in.row(pixel / work.in.width, pixel % work.in.width) * work.columns;
    float* to = work.to + (work.out.row(0, 0) + pixel) * work.columns;
    for (int64_t c = 0; c < work.in.channels; ++c) {
      std::copy_n(from + c * work.columns, work.columns, to + c * pixels * work.columns);
    }
  }
}

void subsample(const Work& work, int64_t part, int64_t parts) {
  const int64_t stride = work.instruction.window.stride;
  const Range range = share(work.out.height * work.out.width, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const int64_t y = pixel / work.out.width;
    const int64_t x = pixel % work.out.width;
    const float* from = work.from + work.in.row(y * stride, x * stride) * work.columns;
    float* to = work.to + work.out.row(y, x) * work.columns;
    to = std::fill_n(to, work.instruction.pad[0] * work.columns, 0.0F);
    to = std::copy_n(from, work.in.channels * work.columns, to);
    std::fill_n(to, work.instruction.pad[1] * work.columns, 0.0F);
  }
}

/// Fields are shared out. NaN stands for values that are not in the table.
template <class Number>
void embed(const PackedTable& table, const std::vector<Number>& rows, const Work& work, int64_t part,
           int64_t parts) {
  const Range fields = share(work.in.channels, part, parts);
  for (int64_t field = fields.begin; field < fields.end; ++field) {
    const float* from = work.from + (work.in.row(0, 0) + field) * work.columns;
    float* to = work.to + (work.out.row(0, 0) + field * table.width) * work.columns;
    for (int64_t c = 0; c < work.columns; ++c) {
      const int64_t row = table.row(field, from[c]);
      for (int64_t d = 0; d < table.width; ++d) {
        to[d * work.columns + c] = row < 0 ? std::numeric_limits<float>::quiet_NaN()
                                           : kernels::widen(rows[static_cast<size_t>(row * table.width + d)]);
      }
    }
  }
}

void embed(const PackedTable& table, const Work& work, int64_t part, int64_t parts) {
  if (table.halves.empty()) return embed(table, table.values, work, part, parts);
  embed(table, table.halves, work, part, parts);
}

}  // namespace

void run_instruction(const Program& program, const Instruction& instruction, const PanelView& panel,
                     int64_t part, int64_t parts) {
  const Work work(program, instruction, panel);
  switch (instruction.op) {
    case Op::kLinear:
    case Op::kConv2d:
      return product(program.layers[static_cast<size_t>(instruction.layer)], work, part, parts);
    case Op::kAdd:
      return add(work, part, parts);
    case Op::kMaxPool:
      return max_pool(work, part, parts);
    case Op::kGlobalAvgPool:
      return global_avg_pool(work, part, parts);
    case Op::kFlatten:
      return flatten(work, part, parts);
    case Op::kSubsample:
      return subsample(work, part, parts);
    case Op::kEmbedding:
      return embed(program.tables[static_cast<size_t>(instruction.table)], work, part, parts);
    case Op::kInput:
    case Op::kBatchNorm:
    case Op::kRelu:
      return;  // never scheduled
  }
}

}  // namespace hewn::runtime
