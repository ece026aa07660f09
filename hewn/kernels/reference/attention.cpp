#include "hewn/kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hewn::kernels::reference {
namespace {

double score(const Attention& a, int64_t query, int64_t key) {
  double sum = 0;
  for (int64_t f = 0; f < a.features; ++f) {
    sum += double{a.q.data[query * a.q.token + f * a.q.feature]} *
           double{a.k.data[key * a.k.token + f * a.k.feature]};
  }
  sum *= double{a.scale};
  for (const ScoreMask& mask : a.masks) {
    const int64_t at = query * mask.query + key * mask.key;
    if (mask.add != nullptr) {
      sum += double{mask.add[at]};
    } else if (mask.keep[at] != mask.kept) {
      sum = mask.instead;
    }
  }
  return sum;
}

}  // namespace

void attend(const Attention& attention, int64_t first, int64_t last) {
  const Attention& a = attention;
  std::vector<double> weights(static_cast<size_t>(a.keys));
  for (int64_t query = first; query < last; ++query) {
    for (int64_t key = 0; key < a.keys; ++key) weights[static_cast<size_t>(key)] = score(a, query, key);
    const double most = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - most);
    for (int64_t f = 0; f < a.values; ++f) {
      double value = 0;
      for (int64_t key = 0; key < a.keys; ++key) {
        value += weights[static_cast<size_t>(key)] * double{a.v.data[key * a.v.token + f * a.v.feature]};
      }
      a.out.data[query * a.out.token + f * a.out.feature] = static_cast<float>(value / sum);
    }
  }
}

}  // namespace hewn::kernels::reference
