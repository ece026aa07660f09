#include "hewn/kernels/planes.h"

#include <algorithm>
#include <array>

namespace hewn::kernels {
namespace {

// Floats of the input that serve all tiles before the next ones: they stay in the L2 cache beside the
// weights, which are read once for them.
constexpr int64_t kGroupFloats = int64_t{160} * 1024;
constexpr int64_t kFewestChunks = 4;

/// Chunks of columns for which a tile's weights are used before the next tile.
int64_t chunks_of(const PlaneProduct& product, int64_t width) {
  return std::max(kFewestChunks, kGroupFloats / (width * std::max<int64_t>(product.channels, 1)));
}

// Floats of gathered panels that serve all tiles before the next ones.
constexpr int64_t kPanelFloats = int64_t{48} * 1024;

// Tiles that read a row, on average, from which on gathering pays.
constexpr double kGatherReuse = 6;
// Of the rows, how many a tile reads from which on it does.
constexpr double kGatherDensity = 0.5;

// Tiles with the same inputs that run one after the other on a chunk, while these are in the L1 cache.
constexpr int64_t kSiblings = 2;

/// How columns are cut into chunks: these have nearly equal numbers of vectors, since a last one of few
/// columns would wait for its sums. Worked out once, as divisions take long beside a tile of few rows.
class Chunks {
 public:
  explicit Chunks(int64_t columns) : lanes_(std::max(machine().lanes, kColumnStep)) {
    const int64_t vectors = (columns + lanes_ - 1) / lanes_;
    const int64_t most = machine().strip_width / lanes_;
    const int64_t chunks = std::max<int64_t>(1, (vectors + most - 1) / most);
    narrow_ = vectors / chunks * lanes_;
    wide_end_ = vectors % chunks * (narrow_ + lanes_);
  }

  /// Columns of the chunk that begins `done` behind the first one, where so many are left.
  int64_t next(int64_t done, int64_t left) const {
    const int64_t whole = done < wide_end_ ? narrow_ + lanes_ : narrow_;
    return std::min(whole, (left + kColumnStep - 1) / kColumnStep * kColumnStep);
  }

 private:
  int64_t lanes_;
  int64_t narrow_;    // columns of the narrower chunks, which come last
  int64_t wide_end_;  // where they begin
};

/// What a tile asks of the inner loop; where its columns are is left to the caller.
void describe(const PlaneProduct& product, int64_t number, std::vector<float>& scratch, TileArguments& t) {
  const Packed::Tile& tile = product.weight->tiles()[static_cast<size_t>(number)];
  const auto& first = product.runs->first;
  t.in_stride = product.in_stride;
  t.run_unit = 1;
  t.runs = product.runs->runs.data() + first[static_cast<size_t>(number)];
  t.run_count = first[static_cast<size_t>(number) + 1] - first[static_cast<size_t>(number)];
  t.weight = product.weight->values(tile, scratch);
  t.weight_stride = tile.outputs;
  t.outputs = tile.outputs;
  t.out_stride = product.out_stride;
  t.bias = product.bias != nullptr && !tile.accumulate ? product.bias + tile.output : nullptr;
  // What is added over itself is there from the first tile on.
  t.accumulate = tile.accumulate || (product.add != nullptr && product.add == product.out);
  t.relu = product.relu && tile.last;
}

void place(const PlaneProduct& product, const Packed::Tile& tile, int64_t column, int64_t columns,
           TileArguments& t) {
  const int64_t at = tile.output * product.out_stride + column;
  t.in = product.in + column;
  t.out = product.out + at;
  t.add = product.add != nullptr && product.add != product.out && tile.last ? product.add + at : nullptr;
  t.columns = columns;
}

/// Once a tile's outputs are complete for the columns [from, to), while they are in a cache.
void activate(const PlaneProduct& product, int64_t number, int64_t from, int64_t to) {
  const Packed::Tile& tile = product.weight->tiles()[static_cast<size_t>(number)];
  if (!product.then.on || !tile.last) return;
  for (int64_t j = tile.output; j < tile.output + tile.outputs; ++j) {
    float* row = product.out + j * product.out_stride + from;
    apply(product.then.function, product.then.a, product.then.b, row, row, to - from);
  }
}

std::vector<PlaneSegment> segments_of(const Packed& weight) {
  std::vector<PlaneSegment> out;
  const auto& tiles = weight.tiles();
  for (int64_t i = 0; i < weight.tile_count(); ++i) {
    const Packed::Tile& tile = tiles[static_cast<size_t>(i)];
    if (i == 0 || tile.output < tiles[static_cast<size_t>(i) - 1].output) out.push_back({i, i, 0, 0});
    PlaneSegment& segment = out.back();
    segment.end = i + 1;
    for (int32_t r = 0; r < tile.runs; ++r) {
      const Run& run = weight.runs(tile)[r];
      const bool first = segment.last_row == 0;
      segment.first_row = first ? run.row : std::min<int64_t>(segment.first_row, run.row);
      segment.last_row = std::max<int64_t>(segment.last_row, run.row + run.length);
    }
  }
  return out;
}

/// Whether gathering pays: tiles of sparse weights come for few of the rows, and would bring all of their
/// weights anew for every panel. Strips of 16 lanes take whole cache lines of a row, which they find as fast
/// where they lie.
bool gathering_pays(const Packed& weight, const std::vector<PlaneSegment>& segments) {
  if (machine().lanes > kColumnStep) return false;
  double rows = 0;
  double all = 0;
  for (const PlaneSegment& segment : segments) {
    const auto here = static_cast<double>(segment.last_row - segment.first_row);
    rows += here;
    all += here * static_cast<double>(segment.end - segment.begin);
  }
  const double reads = static_cast<double>(weight.products()) / static_cast<double>(machine().tile_outputs);
  return reads >= kGatherReuse * rows && reads >= kGatherDensity * all;
}

/// Memory that grows as needed and stays with its thread.
float* panels_of(int64_t floats) {
  thread_local AlignedVector<float> panels;
  if (static_cast<int64_t>(panels.size()) < floats) panels.resize(static_cast<size_t>(floats));
  return panels.data();
}

/// The tiles of a segment for the columns [from, to), from panels.
void multiply_gathered(const PlaneProduct& product, const PlaneSegment& segment, const float* panels,
                       int64_t from, int64_t to) {
  const auto run_tile = machine().tile;
  const int64_t width = machine().strip_width;
  const int64_t rows = segment.last_row - segment.first_row;
  std::array<std::vector<float>, kSiblings> scratch;
  std::array<TileArguments, kSiblings> group;
  const Chunks chunks(to - from);
  for (int64_t tile = segment.begin; tile < segment.end; tile += kSiblings) {
    const int64_t count = std::min(kSiblings, segment.end - tile);
    for (int64_t n = 0; n < count; ++n) {
      TileArguments& t = group[static_cast<size_t>(n)];
      describe(product, tile + n, scratch[static_cast<size_t>(n)], t);
      t.runs = product.weight->runs(product.weight->tiles()[static_cast<size_t>(tile + n)]);
      t.run_count = product.weight->tiles()[static_cast<size_t>(tile + n)].runs;
      t.run_unit = t.in_stride = width;
    }
    const float* panel = panels - segment.first_row * width;
    for (int64_t column = from, columns = 0; column < to; column += columns, panel += rows * width) {
      columns = chunks.next(column - from, to - column);
      for (int64_t n = 0; n < count; ++n) {
        TileArguments& t = group[static_cast<size_t>(n)];
        place(product, product.weight->tiles()[static_cast<size_t>(tile + n)], column, columns, t);
        t.in = panel;
        run_tile(t);
      }
    }
    for (int64_t n = 0; n < count; ++n) activate(product, tile + n, from, to);
  }
}

void gather_and_multiply(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin,
                         int64_t end) {
  const int64_t width = machine().strip_width;
  for (PlaneSegment segment : product.runs->segments) {
    segment.begin = std::max(segment.begin, begin);
    segment.end = std::min(segment.end, end);
    if (segment.begin >= segment.end) continue;
    const int64_t rows = segment.last_row - segment.first_row;
    const int64_t chunks = std::max<int64_t>(1, kPanelFloats / std::max<int64_t>(1, width * rows));
    float* panels = panels_of(chunks * width * rows);
    for (int64_t from = first; from < last; from += chunks * width) {
      const int64_t to = std::min(last, from + chunks * width);
      const Chunks cut(to - from);
      float* panel = panels;
      for (int64_t column = from, columns = 0; column < to; column += columns, panel += rows * width) {
        columns = cut.next(column - from, to - column);
        machine().gather(product.in + column, product.runs->rows.data() + segment.first_row, rows, columns,
                         panel);
      }
      multiply_gathered(product, segment, panels, from, to);
    }
  }
}

}  // namespace

PlaneRuns plane_runs(const Packed& weight, int64_t channels, std::span<const int64_t> taps, int64_t stride) {
  PlaneRuns out;
  for (const Packed::Tile& tile : weight.tiles()) {
    out.first.push_back(static_cast<int32_t>(out.runs.size()));
    for (int32_t i = 0; i < tile.runs; ++i) {
      int64_t row = weight.runs(tile)[i].row;
      for (int64_t left = weight.runs(tile)[i].length; left > 0;) {
        const int64_t channel = row % channels;
        const int64_t length = std::min(left, channels - channel);
        const int64_t offset = taps[static_cast<size_t>(row / channels)] + channel * stride;
        out.runs.push_back({static_cast<int32_t>(offset), static_cast<int32_t>(length)});
        row += length;
        left -= length;
      }
    }
  }
  out.first.push_back(static_cast<int32_t>(out.runs.size()));
  for (const int64_t tap : taps) {
    for (int64_t c = 0; c < channels; ++c) out.rows.push_back(static_cast<int32_t>(tap + c * stride));
  }
  out.segments = segments_of(weight);
  out.gathers = gathering_pays(weight, out.segments);
  return out;
}

void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  if (product.runs->gathers) return gather_and_multiply(product, first, last, begin, end);
  const auto run_tile = machine().tile;
  const int64_t width = machine().strip_width;
  const std::vector<Packed::Tile>& tiles = product.weight->tiles();
  std::array<std::vector<float>, kSiblings> scratch;
  std::array<TileArguments, kSiblings> group;
  const int64_t group_columns = chunks_of(product, width) * width;
  for (int64_t from = first; from < last; from += group_columns) {
    const int64_t to = std::min(last, from + group_columns);
    const Chunks chunks(to - from);
    for (int64_t tile = begin; tile < end;) {
      int64_t count = 0;
      do {
        describe(product, tile + count, scratch[static_cast<size_t>(count)],
                 group[static_cast<size_t>(count)]);
        ++count;
      } while (count < kSiblings && tile + count < end &&
               tiles[static_cast<size_t>(tile + count)].same_inputs);
      for (int64_t column = from, columns = 0; column < to; column += columns) {
        columns = chunks.next(column - from, to - column);
        for (int64_t n = 0; n < count; ++n) {
          TileArguments& t = group[static_cast<size_t>(n)];
          place(product, tiles[static_cast<size_t>(tile + n)], column, columns, t);
          run_tile(t);
        }
      }
      for (int64_t n = 0; n < count; ++n) activate(product, tile + n, from, to);
      tile += count;
    }
  }
}

namespace {

/// `count` rows of a matrix as the weights of tiles: to[k][j] = a[j][k].
void turn_rows(const float* a, int64_t inner, int64_t count, float* to) {
  if (count == 8) return machine().pack_eight(a, inner, to, 8, inner);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t k = 0; k < inner; ++k) to[k * count + j] = a[j * inner + k];
  }
}

/// What multiply_matrices needs besides; stays with its thread.
struct MatrixRoom {
  std::vector<float> weight;  // eight rows of a
  std::vector<float> rest;    // the last columns of b, fewer than a tile reads
};

void multiply_rows(const MatrixProduct& product, int64_t row, int64_t count, const MatrixRoom& room) {
  const int64_t outputs = machine().tile_outputs;
  const int64_t whole = product.columns / kColumnStep * kColumnStep;
  const Run run{0, static_cast<int32_t>(product.inner)};
  const Chunks chunks(whole);
  TileArguments t;
  t.runs = &run;
  t.run_count = 1;
  t.weight_stride = count;
  std::array<float, static_cast<size_t>(kMaxOutputs * kColumnStep)> corner;
  for (int64_t column = 0; column < product.columns; column += t.columns) {
    const bool inside = column < whole;
    t.columns = inside ? chunks.next(column, whole - column) : kColumnStep;
    t.in = inside ? product.b + column : room.rest.data();
    t.in_stride = inside ? product.columns : kColumnStep;
    t.out_stride = inside ? product.columns : kColumnStep;
    for (int64_t first = 0; first < count; first += outputs) {
      float* out = product.c + (row + first) * product.columns + column;
      t.outputs = std::min(outputs, count - first);
      t.weight = room.weight.data() + first;
      t.out = inside ? out : corner.data();
      machine().tile(t);
      for (int64_t j = 0; j < t.outputs && !inside; ++j) {
        std::copy_n(corner.begin() + j * kColumnStep, product.columns - whole, out + j * product.columns);
      }
    }
  }
}

}  // namespace

void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end) {
  constexpr int64_t kRows = 8;
  thread_local MatrixRoom room;
  const int64_t whole = product.columns / kColumnStep * kColumnStep;
  // The tile reads eight columns at a time: what is left over is copied.
  if (whole < product.columns) {
    room.rest.assign(static_cast<size_t>(product.inner * kColumnStep), 0.0F);
    for (int64_t k = 0; k < product.inner; ++k) {
      std::copy(product.b + k * product.columns + whole, product.b + (k + 1) * product.columns,
                room.rest.begin() + k * kColumnStep);
    }
  }
  if (static_cast<int64_t>(room.weight.size()) < product.inner * kRows)
    room.weight.resize(static_cast<size_t>(product.inner * kRows));
  for (int64_t row = begin; row < end; row += kRows) {
    const int64_t count = std::min(kRows, end - row);
    turn_rows(product.a + row * product.inner, product.inner, count, room.weight.data());
    multiply_rows(product, row, count, room);
  }
}

}  // namespace hewn::kernels
