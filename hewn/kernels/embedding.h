#pragma once

#include <cstdint>

#include "hewn/kernels/update.h"

/// Embedding tables whose step costs what a batch touches, not what the vocabulary holds.
namespace hewn::kernels {

/// The tables of several fields, one behind the other: value v of field f is row first[f] + v.
struct Tables {
  int64_t fields = 0;
  int64_t width = 0;               // of a row
  const int64_t* first = nullptr;  // fields + 1 entries; the last is the number of rows
};

/// out[n][f * width + d] = table[first[f] + values[n][f]][d] for samples [begin, end). Returns false, with
/// that sample's rest unset, at a value outside its field's vocabulary.
bool embed(const Tables& tables, const float* table, const int32_t* values, int64_t begin, int64_t end,
           float* out);

/// Numbers the distinct rows that the samples touch, for the fields [begin, end), in the order in which they
/// first appear: number[n][f], rows[f][number] and counts[f]. `known` has one entry per table row, all -1,
/// and is left so. Fields may be shared between threads.
void number_rows(const Tables& tables, const int32_t* values, int64_t samples, int32_t* known,
                 int32_t* number, int64_t* rows, int64_t* counts, int64_t begin, int64_t end);

/// sums[start[f] + number[n][f]] += grad[n][f] in the order of the samples, for the fields [begin, end).
void sum_rows(const Tables& tables, const int32_t* number, int64_t samples, const float* grad,
              const int64_t* start, float* sums, int64_t begin, int64_t end);

/// One optimiser step on the rows `rows[begin, end)` of a table, which are distinct; grad has a row for each.
/// Other rows, and their state, are not read: moments decay only when a row is met (lazy Adam).
void update_rows(const UpdateRule& rule, const int64_t* rows, int64_t width, const float* grad, float* weight,
                 float* first, float* second, const float* grad_scale, int64_t begin, int64_t end);

}  // namespace hewn::kernels
