#include "hewn/results/standing.h"

#include <algorithm>
#include <cmath>

#include "hewn/results/metric.h"

namespace hewn::results {
namespace {

bool level(double a, double b) {
  constexpr double kRounding = 1e-12;
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

Verdict verdict_on(double margin, const Sample& best, const Sample& second) {
  if (best.size() < 2 || second.size() < 2) return Verdict::kOneSeed;
  const double error = std::sqrt(best.squared_error() + second.squared_error());
  return margin > 2 * error ? Verdict::kClear : Verdict::kWithinNoise;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAlone:
      return "alone";
    case Verdict::kTie:
      return "tie";
    case Verdict::kOneSeed:
      return "one seed";
    case Verdict::kWithinNoise:
      return "within noise";
    case Verdict::kClear:
      return "clear";
  }
  return "?";
}

bool Standing::is_best(size_t number) const {
  return std::find(best.begin(), best.end(), number) != best.end();
}

std::optional<size_t> Standing::winner() const {
  return best.size() == 1 ? std::optional(best.front()) : std::nullopt;
}

Standing judge(const std::string& metric, const std::vector<Sample>& samples) {
  std::vector<double> costs;
  for (const Sample& sample : samples) costs.push_back(cost(metric, sample.mean()));
  const double least = *std::min_element(costs.begin(), costs.end());
  Standing out;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (level(costs[i], least)) {
      out.best.push_back(i);
    } else if (!out.second || costs[i] < costs[*out.second]) {
      out.second = i;
    }
  }
  if (out.best.size() > 1) {
    out.second = out.best[1];
    out.verdict = Verdict::kTie;
  } else if (out.second) {
    const size_t best = out.best.front();
    out.margin = costs[*out.second] - costs[best];
    out.verdict = verdict_on(out.margin, samples[best], samples[*out.second]);
  }
  return out;
}

}  // namespace hewn::results
