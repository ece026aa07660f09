#include "hewn/kernels/planes/planes.h"

#include <algorithm>
#include <array>

#include "hewn/kernels/planes/chunks.h"

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

// Tiles with the same inputs that run one after the other on a chunk, while these are in the L1 cache.
constexpr int64_t kSiblings = 2;

// The most rows of a tile whose next columns are asked for while it works on these: they stay in the L1 cache
// until then, and what comes from beyond the L2 cache has the time of a whole tile.
constexpr int64_t kFewRows = 64;

bool has_few_rows(const TileArguments& t) {
  int64_t rows = 0;
  for (int64_t i = 0; i < t.run_count; ++i) rows += t.runs[i].length;
  return rows <= kFewRows;
}

/// What a tile asks of the inner loop; where its columns are is left to the caller.
void describe(const PlaneProduct& product, int64_t number, TileArguments& t) {
  const Packed::Tile& tile = product.weight->tiles()[static_cast<size_t>(number)];
  const auto& first = product.runs->first;
  t.in_stride = product.in_stride;
  t.run_unit = 1;
  t.runs = product.runs->runs.data() + first[static_cast<size_t>(number)];
  t.run_count = first[static_cast<size_t>(number) + 1] - first[static_cast<size_t>(number)];
  t.weight = product.weight->values(tile) + product.runs->skipped[static_cast<size_t>(number)];
  t.weight_stride = tile.outputs;
  t.outputs = tile.outputs;
  t.out_stride = product.out_stride;
  t.bias = product.bias != nullptr && !tile.accumulate ? product.bias + tile.output : nullptr;
  // What is added over itself is there from the first tile on.
  t.accumulate = tile.accumulate || (product.add != nullptr && product.add == product.out);
  t.relu = product.relu && tile.last;
  t.rows_again = has_few_rows(t);
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
  std::array<TileArguments, kSiblings> group;
  const Chunks chunks(to - from);
  for (int64_t tile = segment.begin; tile < segment.end; tile += kSiblings) {
    const int64_t count = std::min(kSiblings, segment.end - tile);
    for (int64_t n = 0; n < count; ++n) {
      TileArguments& t = group[static_cast<size_t>(n)];
      describe(product, tile + n, t);
      t.runs = product.weight->runs(product.weight->tiles()[static_cast<size_t>(tile + n)]);
      t.run_count = product.weight->tiles()[static_cast<size_t>(tile + n)].runs;
      t.run_unit = t.in_stride = width;
      t.rows_again = false;
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

void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end) {
  if (product.runs->gathers) return gather_and_multiply(product, first, last, begin, end);
  const auto run_tile = machine().tile;
  const int64_t width = machine().strip_width;
  const std::vector<Packed::Tile>& tiles = product.weight->tiles();
  std::array<TileArguments, kSiblings> group;
  const int64_t group_columns = chunks_of(product, width) * width;
  for (int64_t from = first; from < last; from += group_columns) {
    const int64_t to = std::min(last, from + group_columns);
    const Chunks chunks(to - from);
    for (int64_t tile = begin; tile < end;) {
      int64_t count = 0;
      do {
        describe(product, tile + count, group[static_cast<size_t>(count)]);
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

}  // namespace hewn::kernels
