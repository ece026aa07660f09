#include "hewn/kernels/reference/embedding.h"

#include <algorithm>
#include <vector>

#include "hewn/kernels/reference/update.h"

namespace hewn::kernels::reference {

bool embed(const Tables& tables, const float* table, const int32_t* values, int64_t begin, int64_t end,
           float* out) {
  for (int64_t i = begin * tables.fields; i < end * tables.fields; ++i) {
    const int64_t f = i % tables.fields;
    if (values[i] < 0 || values[i] >= tables.first[f + 1] - tables.first[f]) return false;
    for (int64_t d = 0; d < tables.width; ++d) {
      out[i * tables.width + d] = table[(tables.first[f] + values[i]) * tables.width + d];
    }
  }
  return true;
}

void number_rows(const Tables& tables, const int32_t* values, int64_t samples, int32_t* /*known*/,
                 int32_t* number, int64_t* rows, int64_t* counts, int64_t begin, int64_t end) {
  for (int64_t f = begin; f < end; ++f) {
    int64_t* found = rows + f * samples;
    counts[f] = 0;
    for (int64_t n = 0; n < samples; ++n) {
      const int64_t row = tables.first[f] + values[n * tables.fields + f];
      const int64_t at = std::find(found, found + counts[f], row) - found;
      if (at == counts[f]) found[counts[f]++] = row;
      number[n * tables.fields + f] = static_cast<int32_t>(at);
    }
  }
}

void sum_rows(const Tables& tables, const int32_t* number, int64_t samples, const float* grad,
              const int64_t* start, float* sums, int64_t begin, int64_t end) {
  for (int64_t f = begin; f < end; ++f) {
    for (int64_t d = 0; d < tables.width; ++d) {
      std::vector<double> sum(static_cast<size_t>(start[f + 1] - start[f]), 0.0);
      for (int64_t n = 0; n < samples; ++n) {
        const int64_t at = n * tables.fields + f;
        sum[static_cast<size_t>(number[at])] += static_cast<double>(grad[at * tables.width + d]);
      }
      for (size_t i = 0; i < sum.size(); ++i) {
        float& to = sums[(start[f] + static_cast<int64_t>(i)) * tables.width + d];
        to = static_cast<float>(to + sum[i]);
      }
    }
  }
}

void update_rows(const UpdateRule& rule, const int64_t* rows, int64_t width, const float* grad, float* weight,
                 float* first, float* second, const float* grad_scale, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t at = rows[i] * width;
    reference::update(rule, grad + i * width, weight + at, first + at,
                      second == nullptr ? nullptr : second + at, grad_scale,
                      static_cast<const float*>(nullptr), 0, width);
  }
}

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

}  // namespace hewn::kernels::reference
