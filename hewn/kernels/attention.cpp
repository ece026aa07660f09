#include "hewn/kernels/attention.h"

#include <algorithm>

#include "hewn/kernels/aligned.h"
#include "hewn/kernels/simd/column_softmax.h"
#include "hewn/kernels/tile.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::kernels {
namespace {

constexpr int64_t kGroup = 8;

int64_t groups_of(int64_t count) { return (count + kGroup - 1) / kGroup; }

/// Numbers from[i * across + row * along].
struct Grid {
  const float* from;
  int64_t count;  // i
  int64_t across;
  int64_t rows;
  int64_t along;
};

/// to[i / 8 * group + row * step + i % 8] = grid(i, row), zeros where the last eight are not full.
void pack(const Grid& grid, float* to, int64_t group, int64_t step) {
  for (int64_t i = 0; i < grid.count; i += kGroup, to += group) {
    const float* from = grid.from + i * grid.across;
    const int64_t count = std::min(kGroup, grid.count - i);
    if (count == kGroup && grid.across == 1) {
      for (int64_t row = 0; row < grid.rows; ++row)
        std::copy_n(from + row * grid.along, kGroup, to + row * step);
    } else if (count == kGroup && grid.along == 1) {
      machine().pack_eight(from, grid.across, to, step, grid.rows);
    } else {
      for (int64_t row = 0; row < grid.rows; ++row) {
        for (int64_t n = 0; n < kGroup; ++n) {
          to[row * step + n] = n < count ? from[n * grid.across + row * grid.along] : 0.0F;
        }
      }
    }
  }
}

/// Working memory, which stays with its thread: `q`, `scores`, `mask` and `result` are panels, a row for each
/// feature or key and a column for each query; `k` and `v` the weights of tiles, eight outputs side by side.
struct Room {
  AlignedVector<float> q, k, v, scores, mask, result, sums;

  static float* sized(AlignedVector<float>& memory, int64_t floats) {
    if (static_cast<int64_t>(memory.size()) < floats) memory.resize(static_cast<size_t>(floats));
    return memory.data();
  }
};

/// out[j] = sum over `rows` rows of in[row] weight[row][j], panels of `width` columns.
void multiply(const float* in, int64_t rows, const float* packed, int64_t outputs, int64_t columns,
              float* out) {
  const Machine& here = machine();
  const Run run{0, static_cast<int32_t>(rows)};
  TileArguments t;
  t.in = in;
  t.in_stride = t.out_stride = here.panel_width;
  t.runs = &run;
  t.run_count = 1;
  t.weight_stride = kGroup;
  t.columns = columns;
  for (int64_t j = 0; j < outputs; j += here.tile_outputs) {
    t.weight = packed + j / kGroup * kGroup * rows + j % kGroup;
    t.outputs = std::min(here.tile_outputs, outputs - j);
    t.out = out + j * here.panel_width;
    here.tile(t);
  }
}

/// The queries [first, first + count), at most as many as a panel has columns.
struct Chunk {
  int64_t first;
  int64_t count;
  int64_t columns;  // whole eights
};

void apply_mask(const Attention& a, const ScoreMask& mask, const Chunk& chunk, Room& room) {
  const int64_t width = machine().panel_width;
  float* scores = room.scores.data();
  if (mask.add == nullptr) {
    for (int64_t key = 0; key < a.keys; ++key) {
      const bool* keep = mask.keep + chunk.first * mask.query + key * mask.key;
      for (int64_t c = 0; c < chunk.count; ++c) {
        if (keep[c * mask.query] != mask.kept) scores[key * width + c] = mask.instead;
      }
    }
    return;
  }
  const float* from = mask.add + chunk.first * mask.query;
  if (mask.query == 0) {
    for (int64_t key = 0; key < a.keys; ++key) {
      combine(Pair::kAdd, scores + key * width, 1, from + key * mask.key, 0, scores + key * width,
              chunk.columns);
    }
    return;
  }
  float* panel = Room::sized(room.mask, (a.keys + 1) * width);
  pack({from, chunk.count, mask.query, a.keys, mask.key}, panel, kGroup, width);
  combine(Pair::kAdd, scores, 1, panel, 1, scores, a.keys * width);
}

/// result / sums, to where it belongs.
void write(const Attention& a, const Chunk& chunk, Room& room) {
  const int64_t width = machine().panel_width;
  float* out = a.out.data + chunk.first * a.out.token;
  const bool there = a.out.token == 1;
  divide_columns({room.result.data(), a.values, width, room.sums.data(), chunk.count,
                  there ? out : room.result.data(), there ? a.out.feature : width});
  if (there) return;
  for (int64_t c = 0; c < chunk.count; ++c) {
    for (int64_t f = 0; f < a.values; ++f) {
      out[c * a.out.token + f * a.out.feature] = room.result[static_cast<size_t>(f * width + c)];
    }
  }
}

void attend_chunk(const Attention& a, const Chunk& chunk, Room& room) {
  const int64_t width = machine().panel_width;
  pack({a.q.data + chunk.first * a.q.token, chunk.count, a.q.token, a.features, a.q.feature}, room.q.data(),
       kGroup, width);
  multiply(room.q.data(), a.features, room.k.data(), a.keys, chunk.columns, room.scores.data());
  for (const ScoreMask& mask : a.masks) apply_mask(a, mask, chunk, room);
  exp_of_columns(room.scores.data(), a.keys, width, chunk.columns, room.sums.data());
  multiply(room.scores.data(), a.keys, room.v.data(), a.values, chunk.columns, room.result.data());
  write(a, chunk, room);
}

}  // namespace

void attend(const Attention& attention, int64_t first, int64_t last) {
  thread_local Room room;
  const Attention& a = attention;
  const int64_t width = machine().panel_width;
  // A row more than is needed: whole vectors are read behind the last columns.
  Room::sized(room.q, (a.features + 1) * width);
  Room::sized(room.scores, (a.keys + 1) * width);
  Room::sized(room.result, (a.values + 1) * width);
  Room::sized(room.sums, 2 * width);
  const int64_t k_floats = groups_of(a.keys) * kGroup * a.features;
  float* k = Room::sized(room.k, k_floats);
  Room::sized(room.v, groups_of(a.values) * kGroup * a.keys);
  pack({a.k.data, a.keys, a.k.token, a.features, a.k.feature}, k, kGroup * a.features, kGroup);
  if (a.scale != 1) combine(Pair::kMul, k, 1, &a.scale, 0, k, k_floats);
  pack({a.v.data, a.values, a.v.feature, a.keys, a.v.token}, room.v.data(), kGroup * a.keys, kGroup);
  for (Chunk chunk{first, 0, 0}; chunk.first < last; chunk.first += chunk.count) {
    // Chunks of nearly equal size.
    const int64_t left = groups_of(last - chunk.first);
    const int64_t chunks = (left * kGroup + width - 1) / width;
    chunk.columns = (left + chunks - 1) / chunks * kGroup;
    chunk.count = std::min(chunk.columns, last - chunk.first);
    attend_chunk(a, chunk, room);
  }
}

}  // namespace hewn::kernels
