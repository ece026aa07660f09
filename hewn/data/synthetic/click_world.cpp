#include "hewn/data/synthetic/click_world.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "hewn/core/random.h"
#include "hewn/data/synthetic/alias.h"

namespace hewn::data {
namespace {

constexpr double kScale = 0.8;
constexpr double kLinear = 0.25;
constexpr double kPairs = 0.06;
constexpr double kZipf = 1.1;
constexpr double kPositive = 0.25;
// Worlds are not equally hard: the numbering begins with one like the prototype's, Bayes loss 0.394.
constexpr uint64_t kFirstKey = 61;
constexpr int64_t kCalibrationRows = 1 << 16;

/// Two normal numbers from two words (Box and Muller).
std::array<double, 2> normals(uint32_t a, uint32_t b) {
  const double radius = std::sqrt(-2 * std::log((static_cast<double>(a) + 0.5) * 0x1p-32));
  const double angle = 2 * std::numbers::pi * unit(b);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Input and target are of no interest here, but they come with the logits.
struct Drawn {
  std::vector<int32_t> input;
  std::vector<float> target, logit;

  Drawn(const ClickTruth& truth, const ClickStream& stream, int64_t rows)
      : input(static_cast<size_t>(rows * kClickFields)),
        target(static_cast<size_t>(rows)),
        logit(static_cast<size_t>(rows)) {
    draw_clicks(truth, stream, 0, rows, {input.data(), target.data(), logit.data()});
  }
};

/// What to add to the logits so that their mean probability is `share`.
double bias_for(const std::vector<float>& logits, double share) {
  double low = -100;
  double high = 100;
  for (int i = 0; i < 40; ++i) {
    const double bias = (low + high) / 2;
    double sum = 0;
    for (const float logit : logits) sum += 1 / (1 + std::exp(-(static_cast<double>(logit) + bias)));
    (sum < share * static_cast<double>(logits.size()) ? low : high) = bias;
  }
  return (low + high) / 2;
}

}  // namespace

ClickWorld::ClickWorld(uint64_t number) : key_(kFirstKey + number) {
  std::array<double, kClickFields> strength{};
  std::array<int64_t, kClickFields> values{};
  double squares = 0;
  for (size_t f = 0; f < strength.size(); ++f) {
    const auto words = draw(key_, Stream::kWorld, 0, f);
    values[f] = std::llround(std::pow(10.0, 1 + 3 * unit(words[0])));
    strength[f] = std::exp(normals(words[1], words[2])[0]);
    squares += strength[f] * strength[f];
  }
  const double norm = std::sqrt(squares / kClickFields);
  for (int f = 0; f < kClickFields; ++f) {
    const auto i = static_cast<size_t>(f);
    add_field(f, strength[i] / norm, values[i]);
  }
  const Drawn sample(truth(), held_out(HeldOut::kCalibration), kCalibrationRows);
  truth_.bias = static_cast<float>(bias_for(sample.logit, kPositive));
}

void ClickWorld::add_field(int field, double strength, int64_t values) {
  std::vector<double> weights(static_cast<size_t>(values));
  for (size_t v = 0; v < weights.size(); ++v) weights[v] = std::pow(static_cast<double>(v + 1), -kZipf);
  const auto aliases = alias_table(weights);
  aliases_.insert(aliases_.end(), aliases.begin(), aliases.end());
  truth_.first[field + 1] = static_cast<int32_t>(aliases_.size());

  // Two factors carry this scale, so that their product has that of the interactions.
  const double factor = strength * std::sqrt(kScale * kPairs / std::sqrt(kClickRank));
  for (uint64_t v = 0; v < weights.size(); ++v) {
    const uint64_t part = static_cast<uint64_t>(field) + 1;
    const auto words = draw(key_, Stream::kWorld, part, 2 * v);
    const auto more = draw(key_, Stream::kWorld, part, 2 * v + 1);
    const auto a = normals(words[0], words[1]);
    const auto b = normals(words[2], words[3]);
    ValueEffect& effect = effects_.emplace_back();
    double square = 0;
    for (size_t k = 0; k < kClickRank; ++k) {
      const double u = factor * (k < 2 ? a[k] : b[k - 2]);
      effect.factor[k] = static_cast<float>(u);
      square += u * u;
    }
    effect.own = static_cast<float>(kScale * kLinear * strength * normals(more[0], more[1])[0] - square / 2);
  }
}

ClickTruth ClickWorld::truth() const {
  ClickTruth out = truth_;
  out.aliases = aliases_.data();
  out.effects = effects_.data();
  return out;
}

std::vector<int64_t> ClickWorld::vocabularies() const {
  std::vector<int64_t> out;
  for (int f = 0; f < kClickFields; ++f) out.push_back(truth_.first[f + 1] - truth_.first[f]);
  return out;
}

ClickStream ClickWorld::training(uint64_t seed, int64_t epoch) {
  return {seed, counter_of(Stream::kClicks, static_cast<uint64_t>(epoch))};
}

ClickStream ClickWorld::held_out(HeldOut part) const {
  return {key_, counter_of(Stream::kHeldOutClicks, static_cast<uint64_t>(part))};
}

double ClickWorld::bayes_loss(const ClickStream& stream, int64_t rows) const {
  const Drawn drawn(truth(), stream, rows);
  double sum = 0;
  for (size_t i = 0; i < drawn.logit.size(); ++i) {
    const double towards = drawn.target[i] > 0 ? -drawn.logit[i] : drawn.logit[i];
    sum += std::max(towards, 0.0) + std::log1p(std::exp(-std::fabs(towards)));
  }
  return sum / static_cast<double>(rows);
}

void draw_clicks(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count,
                 const ClickMemory& to) {
  at::parallel_for(0, count, 512, [&](int64_t begin, int64_t end) {
    click_rows(truth, stream, first + begin, end - begin, to.input + begin * kClickFields, to.target + begin,
               to.logit == nullptr ? nullptr : to.logit + begin);
  });
}

}  // namespace hewn::data
