#include "hewn/kernels/embedding.h"

#include <algorithm>

namespace hewn::kernels {
namespace {

// Rows of a large table are far apart. Asked for some samples ahead, their memory is there in time.
constexpr int64_t kAhead = 2;

/// The values of the sample `kAhead` further on; null behind the last one.
const int32_t* values_ahead(const Tables& tables, const int32_t* values, int64_t sample, int64_t end) {
  return sample + kAhead < end ? values + (sample + kAhead) * tables.fields : nullptr;
}

/// Calls ask(row) for the rows that a sample will need in the fields [begin, end). Its values are not checked
/// yet: an address that is only asked for may be any.
template <class Ask>
void ask_ahead(const Tables& tables, const int32_t* sample, int64_t begin, int64_t end, const Ask& ask) {
  for (int64_t f = begin; sample != nullptr && f < end; ++f) ask(tables.first[f] + sample[f]);
}

}  // namespace

bool embed(const Tables& tables, const float* table, const int32_t* values, int64_t begin, int64_t end,
           float* out) {
  const int64_t width = tables.width;
  for (int64_t n = begin; n < end; ++n) {
    ask_ahead(tables, values_ahead(tables, values, n, end), 0, tables.fields,
              [&](int64_t row) { __builtin_prefetch(table + row * width); });
    for (int64_t f = 0; f < tables.fields; ++f) {
      const int64_t value = values[n * tables.fields + f];
      if (value < 0 || value >= tables.first[f + 1] - tables.first[f]) return false;
      const float* row = table + (tables.first[f] + value) * width;
      std::copy_n(row, width, out + (n * tables.fields + f) * width);
    }
  }
  return true;
}

void number_rows(const Tables& tables, const int32_t* values, int64_t samples, int32_t* known,
                 int32_t* number, int64_t* rows, int64_t* counts, int64_t begin, int64_t end) {
  std::fill(counts + begin, counts + end, 0);
  for (int64_t n = 0; n < samples; ++n) {
    ask_ahead(tables, values_ahead(tables, values, n, samples), begin, end,
              [&](int64_t row) { __builtin_prefetch(known + row, 1); });
    for (int64_t f = begin; f < end; ++f) {
      const int64_t row = tables.first[f] + values[n * tables.fields + f];
      int32_t found = known[row];
      if (found < 0) {
        found = static_cast<int32_t>(counts[f]++);
        known[row] = found;
        rows[f * samples + found] = row;
      }
      number[n * tables.fields + f] = found;
    }
  }
  for (int64_t f = begin; f < end; ++f) {
    for (int64_t i = 0; i < counts[f]; ++i) known[rows[f * samples + i]] = -1;
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

}  // namespace hewn::kernels
