#pragma once

#include "hewn/kernels/bf16/pairs.h"
#include "hewn/kernels/matrix/matrix_tile.h"

namespace hewn::kernels {

struct PairMachine;

/// A product over planes of pairs: bf16 on both sides, sums in 32 bits.
///
///   sum[j][p] = sum over taps t and channels c of in[c][p + taps[t]] * weight[j][t][c]
///   y[j][p]   = max(0, sum + bias[j] + add[j][p]), the latter two and the maximum where they are wanted
///
/// Products of two bf16 are exact in 32 bits. The twin adds them one by one, each sum rounded; AMX adds the
/// products of even channels of a step and those of odd ones first, vectors in another order, and both may
/// take numbers below 2^-126 as zeros. So instruction sets differ by roundings, but each gives the same
/// bits for any number of threads, and for every column of a plane. Into pairs y goes as the nearest bf16.
struct PairProduct {
  const MatrixWeight* weight = nullptr;
  const int32_t* offsets = nullptr;  // matrix_offsets
  const PairMachine* machine = nullptr;
  const uint32_t* in = nullptr;
  int64_t in_stride = 0;
  const float* bias = nullptr;  // of each output, and fifteen more
  uint32_t* out = nullptr;      // pairs; else floats
  float* out_floats = nullptr;
  int64_t out_stride = 0;
  const uint32_t* add = nullptr;  // pairs, rows out_stride apart
  bool relu = false;
};

/// What an instruction set does with pairs.
struct PairMachine {
  const char* name = "";
  void (*multiply)(const PairProduct& product, int64_t first, int64_t last, int64_t begin,
                   int64_t end) = nullptr;
  void (*multiply_of_one)(const PairProduct& product, int64_t begin, int64_t end) = nullptr;
  /// Of the first samples, as many as it says.
  int64_t (*samples_to_pairs)(const float* samples, int64_t channels, int64_t count, uint32_t* pairs,
                              int64_t stride) = nullptr;
  /// Of the first pairs, as many as it says.
  int64_t (*max_of_pairs)(const uint32_t* a, const uint32_t* b, uint32_t* to, int64_t count) = nullptr;
};

/// The one that is faster than products in 32 bits here; null: there is none, and bf16 is a way to store.
const PairMachine* pair_machine();
/// All that can run here, for tests.
int pair_machine_count();
const PairMachine& pair_machine_at(int index);

/// Weights of bf16, outputs x taps x channels, as numbers of which only the upper half is looked at.
MatrixWeight pair_weight(const float* values, int64_t outputs, int64_t taps, int64_t channels);

/// For the columns [first, last) and the tiles [begin, end). Up to fifteen columns more are read.
void multiply_pairs(const PairProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);

/// For a single column: rows of pairs, or floats, lie side by side.
void multiply_pairs_of_one(const PairProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels
