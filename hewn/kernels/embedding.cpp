#include "hewn/kernels/embedding.h"

#include <algorithm>

namespace hewn::kernels {

bool embed(const Tables& tables, const float* table, const int32_t* values, int64_t begin, int64_t end,
           float* out) {
  const int64_t width = tables.width;
  for (int64_t n = begin; n < end; ++n) {
    for (int64_t f = 0; f < tables.fields; ++f) {
      const int64_t value = values[n * tables.fields + f];
      if (value < 0 || value >= tables.first[f + 1] - tables.first[f]) return false;
      const float* row = table + (tables.first[f] + value) * width;
      std::copy_n(row, width, out + (n * tables.fields + f) * width);
    }
  }
  return true;
}

void number_rows(const Tables& tables, const int32_t* values, int64_t samples, int32_t* slots,
                 int32_t* number, int64_t* rows, int64_t* counts, int64_t begin, int64_t end) {
  std::fill(counts + begin, counts + end, 0);
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t f = begin; f < end; ++f) {
      const int64_t row = tables.first[f] + values[n * tables.fields + f];
      int32_t slot = slots[row];
      if (slot < 0) {
        slot = static_cast<int32_t>(counts[f]++);
        slots[row] = slot;
        rows[f * samples + slot] = row;
      }
      number[n * tables.fields + f] = slot;
    }
  }
  for (int64_t f = begin; f < end; ++f) {
    for (int64_t i = 0; i < counts[f]; ++i) slots[rows[f * samples + i]] = -1;
  }
}

void sum_rows(const Tables& tables, const int32_t* number, int64_t samples, const float* grad,
              const int64_t* start, float* sums, int64_t begin, int64_t end) {
  const int64_t width = tables.width;
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t f = begin; f < end; ++f) {
      const int64_t at = n * tables.fields + f;
      float* sum = sums + (start[f] + number[at]) * width;
      for (int64_t d = 0; d < width; ++d) sum[d] += grad[at * width + d];
    }
  }
}

namespace reference {

void table_gradient(const Tables& tables, const int32_t* values, int64_t samples, const float* grad,
                    double* out) {
  std::fill(out, out + tables.first[tables.fields] * tables.width, 0.0);
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t f = 0; f < tables.fields; ++f) {
      const int64_t row = tables.first[f] + values[n * tables.fields + f];
      for (int64_t d = 0; d < tables.width; ++d) {
        out[row * tables.width + d] += static_cast<double>(grad[(n * tables.fields + f) * tables.width + d]);
      }
    }
  }
}

}  // namespace reference
}  // namespace hewn::kernels
