#include "hewn/kernels/packed.h"

#include <algorithm>
#include <array>
#include <bit>

namespace hewn::kernels {
namespace {

// Input rows whose panel (at most 32 columns) takes a quarter of a megabyte, so that it stays in the L2 cache
// beside the weights that stream past it.
constexpr int64_t kChunkRows = 2048;

/// Cuts `count` outputs of one block into tiles of nearly equal size.
std::vector<int64_t> cut(int64_t count) {
  const int64_t most = machine().tile_outputs;
  const int64_t pieces = (count + most - 1) / most;
  std::vector<int64_t> ends;
  for (int64_t i = 1; i <= pieces; ++i) ends.push_back(count * i / pieces);
  return ends;
}

}  // namespace

/// Puts a Packed together tile by tile.
class PackedBuilder {
 public:
  using Sources = std::array<int32_t, static_cast<size_t>(kMaxOutputs)>;

  PackedBuilder(int64_t outputs, int64_t source_stride) {
    packed_.outputs_ = outputs;
    packed_.source_stride_ = source_stride;
  }

  /// `block`: tiles of one block of outputs read the same inputs.
  void begin_tile(int64_t output, int64_t outputs, int64_t block) {
    block_of_tile_.push_back(block);
    Packed::Tile tile;
    tile.output = static_cast<int32_t>(output);
    tile.outputs = static_cast<int32_t>(outputs);
    tile.first_run = static_cast<int32_t>(packed_.runs_.size());
    tile.values = floats_;
    packed_.tiles_.push_back(tile);
  }

  /// `sources[j]` is where the value of the run's first row and the tile's output j lies; negative: zero.
  void add_run(int64_t row, int64_t length, const Sources& sources) {
    Packed::Tile& tile = packed_.tiles_.back();
    packed_.runs_.push_back({static_cast<int32_t>(row), static_cast<int32_t>(length)});
    packed_.source_at_.push_back(static_cast<int32_t>(packed_.source_.size()));
    packed_.source_.insert(packed_.source_.end(), sources.begin(), sources.begin() + tile.outputs);
    ++tile.runs;
    floats_ += length * tile.outputs;
  }

  Packed finish() {
    packed_.products_ = floats_;
    // A tile of one column reads past the last weight.
    packed_.values_.assign(static_cast<size_t>(floats_ + kReadAhead), 0.0F);
    return std::move(packed_);
  }

  /// Orders tiles by chunk of input rows: a panel's chunk then serves all outputs before the next one.
  void mark_chunks(const std::vector<int64_t>& chunk_of_tile) {
    std::vector<size_t> order(packed_.tiles_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return chunk_of_tile[a] < chunk_of_tile[b]; });
    std::vector<Packed::Tile> sorted;
    size_t last_sorted = 0;
    for (const size_t i : order) {
      sorted.push_back(packed_.tiles_[i]);
      sorted.back().accumulate = i > 0 && packed_.tiles_[i - 1].output == packed_.tiles_[i].output;
      sorted.back().same_inputs = sorted.size() > 1 && block_of_tile_[i] == block_of_tile_[last_sorted] &&
                                  chunk_of_tile[i] == chunk_of_tile[last_sorted];
      last_sorted = i;
      sorted.back().last =
          i + 1 == packed_.tiles_.size() || packed_.tiles_[i + 1].output != packed_.tiles_[i].output;
    }
    packed_.tiles_ = std::move(sorted);
  }

 private:
  Packed packed_;
  std::vector<int64_t> block_of_tile_;
  int64_t floats_ = 0;
};

namespace {

/// Forward products: tiles run over the columns of the grid; `segments` maps grid rows to input rows, piece
/// by piece: segments(row, rows, emit) calls emit(input row, offset in the block, length).
template <class Segments>
Packed pack_columns(const BsrPattern& pattern, bool chunked, const Segments& segments) {
  const Grid& grid = pattern.grid;
  PackedBuilder builder(grid.cols, 1);
  std::vector<int64_t> chunks;
  for (int64_t col_block = 0; col_block < grid.col_blocks(); ++col_block) {
    const int64_t col = col_block * grid.block.cols;
    int64_t first = 0;
    for (const int64_t end : cut(std::min(grid.block.cols, grid.cols - col))) {
      int64_t chunk = 0;
      builder.begin_tile(col + first, end - first, col_block);
      chunks.push_back(0);
      for (int64_t i = pattern.begin[static_cast<size_t>(col_block)];
           i < pattern.begin[static_cast<size_t>(col_block) + 1]; ++i) {
        const int64_t row = pattern.row[static_cast<size_t>(i)] * grid.block.rows;
        if (chunked && row / kChunkRows != chunk) {
          chunk = row / kChunkRows;
          builder.begin_tile(col + first, end - first, col_block);
          chunks.push_back(chunk);
        }
        segments(row, std::min(grid.block.rows, grid.rows - row),
                 [&](int64_t at, int64_t offset, int64_t length) {
                   PackedBuilder::Sources sources{};
                   for (int64_t j = first; j < end; ++j) {
                     sources[static_cast<size_t>(j - first)] =
                         static_cast<int32_t>(i * pattern.block_floats() + j * grid.block.rows + offset);
                   }
                   builder.add_run(at, length, sources);
                 });
      }
      first = end;
    }
  }
  builder.mark_chunks(chunks);
  return builder.finish();
}

/// For the transposed products: the number of the kept block at (row block, column block), or -1.
std::vector<int32_t> block_numbers(const BsrPattern& pattern) {
  std::vector<int32_t> numbers(static_cast<size_t>(pattern.grid.blocks()), -1);
  for (int64_t col_block = 0; col_block < pattern.grid.col_blocks(); ++col_block) {
    for (int32_t i = pattern.begin[static_cast<size_t>(col_block)];
         i < pattern.begin[static_cast<size_t>(col_block) + 1]; ++i) {
      numbers[static_cast<size_t>(pattern.row[static_cast<size_t>(i)] * pattern.grid.col_blocks() +
                                  col_block)] = i;
    }
  }
  return numbers;
}

/// The taps that an input pixel of a phase meets, and how far from the reference pixel each finds its output.
struct Tap {
  int64_t number;
  int64_t offset;  // rows
};

/// Transposed products: tiles run over `channels` inputs of the layer; each tap adds the outputs that its
/// kept blocks hold.
Packed pack_rows(const BsrPattern& pattern, int64_t channels, const std::vector<Tap>& taps) {
  const Grid& grid = pattern.grid;
  const std::vector<int32_t> numbers = block_numbers(pattern);
  PackedBuilder builder(channels, grid.block.rows);
  std::vector<int64_t> chunks;
  for (int64_t block = 0; block < channels; block += grid.block.rows) {
    int64_t first = block;
    for (const int64_t cut_at : cut(std::min(grid.block.rows, channels - block))) {
      const int64_t end = block + cut_at;
      builder.begin_tile(first, end - first, block);
      int64_t chunk = 0;
      chunks.push_back(0);
      for (const Tap& tap : taps) {
        for (int64_t col_block = 0; col_block < grid.col_blocks(); ++col_block) {
          const int64_t col = col_block * grid.block.cols;
          PackedBuilder::Sources sources{};
          bool any = false;
          for (int64_t c = first; c < end; ++c) {
            const int64_t row = tap.number * channels + c;
            const int32_t kept =
                numbers[static_cast<size_t>(row / grid.block.rows * grid.col_blocks() + col_block)];
            any = any || kept >= 0;
            sources[static_cast<size_t>(c - first)] =
                kept < 0 ? -1 : static_cast<int32_t>(kept * pattern.block_floats() + row % grid.block.rows);
          }
          if (!any) continue;
          if (taps.size() == 1 && col / kChunkRows != chunk) {
            chunk = col / kChunkRows;
            builder.begin_tile(first, end - first, block);
            chunks.push_back(chunk);
          }
          builder.add_run(tap.offset + col, std::min(grid.block.cols, grid.cols - col), sources);
        }
      }
      first = end;
    }
  }
  builder.mark_chunks(chunks);
  return builder.finish();
}

}  // namespace

Packed Packed::linear(const BsrPattern& pattern) {
  return pack_columns(pattern, true, [](int64_t row, int64_t rows, const auto& emit) { emit(row, 0, rows); });
}

Packed Packed::linear_transposed(const BsrPattern& pattern) {
  return pack_rows(pattern, pattern.grid.rows, {{0, 0}});
}

Packed Packed::conv(const BsrPattern& pattern, const ConvGeometry& geometry, const ImageShape& in) {
  return pack_columns(pattern, false, [&](int64_t row, int64_t rows, const auto& emit) {
    for (int64_t r = row; r < row + rows;) {
      const int64_t tap = r / in.channels;
      const int64_t length = std::min(row + rows, (tap + 1) * in.channels) - r;
      const int64_t y = tap / geometry.kernel_width * geometry.dilation;
      const int64_t x = tap % geometry.kernel_width * geometry.dilation;
      emit((y * (in.width + 2 * in.border) + x) * in.channels + r % in.channels, r - row, length);
      r += length;
    }
  });
}

Packed Packed::conv_transposed(const BsrPattern& pattern, const ConvGeometry& geometry, const ImageShape& out,
                               int64_t phase_y, int64_t phase_x) {
  std::vector<Tap> taps;
  for (int64_t ky = 0; ky < geometry.kernel_height; ++ky) {
    for (int64_t kx = 0; kx < geometry.kernel_width; ++kx) {
      const int64_t back_y = ky * geometry.dilation - phase_y;
      const int64_t back_x = kx * geometry.dilation - phase_x;
      if (back_y % geometry.stride != 0 || back_x % geometry.stride != 0) continue;
      taps.push_back({ky * geometry.kernel_width + kx,
                      -(back_y / geometry.stride * (out.width + 2 * out.border) + back_x / geometry.stride) *
                          out.channels});
    }
  }
  return pack_rows(pattern, pattern.grid.rows / geometry.taps(), taps);
}

void Packed::fill(const float* values, int64_t begin, int64_t end) {
  for (int64_t t = begin; t < end; ++t) {
    const Tile& tile = tiles_[static_cast<size_t>(t)];
    float* to = values_.data() + tile.values;
    const int64_t outputs = tile.outputs;
    for (int32_t r = tile.first_run; r < tile.first_run + tile.runs; ++r) {
      const int64_t length = runs_[static_cast<size_t>(r)].length;
      const int32_t* sources = source_.data() + source_at_[static_cast<size_t>(r)];
      for (int64_t j = 0; j < outputs; ++j) {
        if (sources[j] < 0) {
          for (int64_t i = 0; i < length; ++i) to[i * outputs + j] = 0;
          continue;
        }
        const float* from = values + sources[j];
        for (int64_t i = 0; i < length; ++i) to[i * outputs + j] = from[i * source_stride_];
      }
      to += length * outputs;
    }
  }
}

void Packed::freeze() {
  source_ = {};
  source_at_ = {};
}

uint16_t bf16_from(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40U);  // stays a NaN
  // Adds just under half of the last bit that stays, or half where that bit is odd: ties go to even.
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

int64_t Packed::bytes() const {
  return static_cast<int64_t>(values_.size() * sizeof(float) + runs_.size() * sizeof(Run) +
                              tiles_.size() * sizeof(Tile) +
                              (source_.size() + source_at_.size()) * sizeof(int32_t));
}

}  // namespace hewn::kernels
