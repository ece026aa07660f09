#include "hewn/results/pairing.h"

#include "hewn/results/metric.h"
#include "hewn/results/statistics.h"

namespace hewn::results {

Pairing pair_up(const std::string& metric, const std::vector<std::pair<double, double>>& pairs) {
  Pairing out;
  double sum = 0;
  for (const auto& [a, b] : pairs) {
    sum += a - b;
    const double lead = cost(metric, b) - cost(metric, a);
    if (lead == 0) {
      ++out.ties;
    } else if (lead > 0) {
      ++out.wins;
    } else {
      ++out.losses;
    }
  }
  if (pairs.empty()) return out;
  out.difference = sum / static_cast<double>(pairs.size());
  out.p = sign_test(out.wins, out.losses);
  return out;
}

}  // namespace hewn::results
