#include "hewn/measure/steadiness.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "hewn/core/error.h"

namespace hewn::measure {
namespace {

constexpr int64_t kLeastCalm = 3;   // what a median needs
constexpr double kPrecision = 0.1;  // of a ratio that is told
constexpr double kMedianError =
    1.8;  // 95 % of all medians of n normal values lie within this x IQR / sqrt(n)

std::string times_text(double ratio) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(ratio < 10 ? 2 : 1) << ratio << "x";
  return text.str();
}

/// Why calm rounds and the ratio of both medians do not place the ratio within the precision, or "".
std::string imprecision(const Spread& ratio, int64_t rounds, double of_medians) {
  const double error = kMedianError * (ratio.high - ratio.low) / std::sqrt(static_cast<double>(rounds));
  const double allowed = kPrecision * ratio.median;
  if (error > allowed) {
    return str("the machine was too restless: a quarter of ", rounds, " rounds say less than ",
               times_text(ratio.low), " and a quarter more than ", times_text(ratio.high));
  }
  if (std::abs(of_medians - ratio.median) > allowed) {
    return str("the machine was too restless: ", rounds, " rounds say ", times_text(ratio.median),
               ", the medians of their times ", times_text(of_medians));
  }
  return "";
}

}  // namespace

Steadiness judge(const Timing& of, const Timing& to) {
  Steadiness out;
  out.rounds = static_cast<int64_t>(of.round_ms.size());
  for (size_t i = 0; i < of.round_ms.size(); ++i) out.calm += of.calm(i) && to.calm(i) ? 1 : 0;
  out.ratio = ratio(of, to);
  if (out.calm < std::min(kLeastCalm, out.rounds)) {
    out.withheld = str("other programs held the processors in ", out.rounds - out.calm, " of ", out.rounds,
                       out.rounds == 1 ? " round" : " rounds");
  } else if (out.calm >= kLeastCalm) {
    out.withheld = imprecision(out.ratio, out.calm, of.median_ms() / to.median_ms());
  }
  return out;
}

}  // namespace hewn::measure
