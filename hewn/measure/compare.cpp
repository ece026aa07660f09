#include "hewn/measure/compare.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hewn/core/error.h"

namespace hewn::measure {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The fastest of timings [begin, end).
size_t fastest(const std::vector<Timing>& timings, size_t begin, size_t end) {
  size_t best = begin;
  for (size_t i = begin; i < end; ++i) {
    if (timings[i].median_ms() < timings[best].median_ms()) best = i;
  }
  return best;
}

Json to_json(const Candidate& candidate) {
  if (!candidate.missing.empty()) return {{"name", candidate.name}, {"missing", candidate.missing}};
  return {{"name", candidate.name}, {"ms", candidate.ms}};
}

Json to_json(const std::vector<Candidate>& candidates) {
  Json out = Json::array();
  for (const Candidate& candidate : candidates) out.push_back(to_json(candidate));
  return out;
}

}  // namespace

Json to_json(const Comparison& c) {
  Json out = {{"density", c.density},           {"kept_blocks", c.kept_blocks}, {"blocks", c.blocks},
              {"weight_bytes", c.weight_bytes}, {"dense_ms", c.dense.ms},       {"sparse_ms", c.sparse.ms}};
  if (c.row_major) out["sparse_rowmajor_ms"] = c.row_major->ms;
  const bool told = c.steadiness.steady();
  out["speedup"] = told ? Json(c.speedup()) : Json(nullptr);
  out["speedup_quartiles"] = {c.steadiness.ratio.low, c.steadiness.ratio.high};
  out["fraction_of_ideal"] = told ? Json(c.fraction_of_ideal()) : Json(nullptr);
  out["rounds"] = c.steadiness.rounds;
  out["calm_rounds"] = c.steadiness.calm;
  if (!told) out["withheld"] = c.steadiness.withheld;
  if (const std::string beyond = c.beyond_products(); !beyond.empty()) out["beyond_products"] = beyond;
  out["dense_baseline"] = c.dense.name;
  out["sparse_variant"] = c.sparse.name;
  out["dense_candidates"] = to_json(c.dense_candidates);
  out["sparse_candidates"] = to_json(c.sparse_candidates);
  return out;
}

std::string Comparison::beyond_products() const {
  if (!steadiness.steady() || fraction_of_ideal() <= kBeyondProducts) return "";
  return str("more than the ", std::round(100 / density) / 100,
             "x that fewer products can give: ", kWhyBeyondProducts);
}

Runnable runnable(const std::vector<Contender>& contenders) {
  const c10::InferenceMode no_autograd;
  Runnable out;
  for (const Contender& contender : contenders) {
    try {
      contender.run();
      out.contenders.push_back(contender);
    } catch (const std::exception& error) {
      out.missing.push_back({contender.name, 0, first_line(error.what())});
    }
  }
  return out;
}

Comparison compare(const Layer& layer, Product product, const Point& point, int64_t rounds) {
  const c10::InferenceMode no_autograd;
  return compare(layer.sparse(product, point), layer.dense(product),
                 {rounds, clock_for(at::get_num_threads())});
}

Comparison compare(const SparseWays& ways, const std::vector<Contender>& dense_ways, const Turns& turns) {
  const c10::InferenceMode no_autograd;
  const Runnable dense = runnable(dense_ways);
  std::vector<Contender> all = dense.contenders;
  all.insert(all.end(), ways.panels.begin(), ways.panels.end());
  all.insert(all.end(), ways.row_major.begin(), ways.row_major.end());
  const size_t panels = dense.contenders.size();
  const size_t row_major = panels + ways.panels.size();
  std::vector<Timing> timings = interleave(all, turns);
  size_t best_dense = 0;
  size_t best_sparse = 0;
  Comparison out;
  for (int64_t turn = 1;; ++turn) {
    best_dense = fastest(timings, 0, panels);
    best_sparse = fastest(timings, panels, row_major);
    out.steadiness = judge(timings[best_dense], timings[best_sparse]);
    const bool hopeless = turn > 1 && out.steadiness.calm == 0;
    if (out.steadiness.steady() || hopeless || turn == kMostTurns) break;
    go_on(all, turns, timings);
  }

  const auto candidate = [&](size_t i) { return Candidate{timings[i].name, timings[i].median_ms(), ""}; };
  out.density = ways.density;
  out.kept_blocks = ways.kept_blocks;
  out.blocks = ways.blocks;
  out.weight_bytes = ways.weight_bytes;
  out.dense = candidate(best_dense);
  out.sparse = candidate(best_sparse);
  if (row_major < all.size()) out.row_major = candidate(fastest(timings, row_major, all.size()));
  for (size_t i = 0; i < panels; ++i) out.dense_candidates.push_back(candidate(i));
  out.dense_candidates.insert(out.dense_candidates.end(), dense.missing.begin(), dense.missing.end());
  for (size_t i = panels; i < all.size(); ++i) out.sparse_candidates.push_back(candidate(i));
  return out;
}

std::optional<double> break_even(const std::function<double(double)>& relative_time) {
  constexpr std::array kSparsities = {0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95};
  double last_sparsity = 0;
  double last_time = 0;
  for (const double sparsity : kSparsities) {
    const double time = relative_time(sparsity);
    if (time <= 1) {
      if (sparsity == 0) return 0;
      return last_sparsity + (sparsity - last_sparsity) * (last_time - 1) / (last_time - time);
    }
    last_sparsity = sparsity;
    last_time = time;
  }
  return std::nullopt;
}

BreakEven break_even(const Layer& layer, const BlockShape& block, int64_t rounds) {
  BreakEven out;
  out.sparsity = break_even([&](double sparsity) {
    const Comparison result = compare(layer, Product::kForward, {block, sparsity}, rounds);
    if (!result.steadiness.steady()) out.withheld = result.steadiness.withheld;
    return 1 / result.speedup();
  });
  return out;
}

}  // namespace hewn::measure
