#include "hewn/kernels/planes/matrices.h"

#include <algorithm>
#include <array>
#include <vector>

#include "hewn/kernels/planes/chunks.h"

namespace hewn::kernels {
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
