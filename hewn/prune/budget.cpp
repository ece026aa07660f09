#include "hewn/prune/budget.h"

#include <array>
#include <numeric>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/options.h"

namespace hewn::prune {
namespace {

constexpr std::array<std::pair<BudgetKind, std::string_view>, 6> kBudgets = {{
    {BudgetKind::kUniform, "uniform"},
    {BudgetKind::kErk, "erk"},
    {BudgetKind::kGlobal, "global"},
    {BudgetKind::kBytes, "bytes"},
    {BudgetKind::kFlops, "flops"},
    {BudgetKind::kMs, "ms"},
}};

}  // namespace

Budget parse_budget(const std::string& text) {
  const size_t equals = text.find('=');
  for (const auto& [kind, name] : kBudgets) {
    if (text.substr(0, equals) != name) continue;
    Budget budget{kind, 0};
    if (budget.limited() != (equals != std::string::npos)) break;
    if (!budget.limited()) return budget;
    parse_value("budget", text.substr(equals + 1), budget.limit);
    const bool share = kind != BudgetKind::kMs;
    if (!(budget.limit > 0 && (!share || budget.limit < 1))) {
      throw Error(str("budget: expected ", share ? "a share between 0 and 1" : "milliseconds above 0",
                      " in \"", text, "\""));
    }
    return budget;
  }
  throw Error(
      str("budget: expected uniform, erk, global, bytes=SHARE, flops=SHARE or ms=MILLISECONDS, got \"", text,
          "\""));
}

std::string to_string(const Budget& budget) {
  for (const auto& [kind, name] : kBudgets) {
    if (kind == budget.kind) return budget.limited() ? str(name, "=", budget.limit) : std::string(name);
  }
  return "?";
}

std::vector<double> erk_densities(const std::vector<std::vector<int64_t>>& shapes, double density) {
  const size_t count = shapes.size();
  std::vector<double> elements(count), share(count), out(count, 0.0);
  double wanted = 0;
  for (size_t i = 0; i < count; ++i) {
    const double sum = static_cast<double>(std::accumulate(shapes[i].begin(), shapes[i].end(), int64_t{0}));
    elements[i] = 1;
    for (const int64_t extent : shapes[i]) elements[i] *= static_cast<double>(extent);
    share[i] = sum / elements[i];
    wanted += density * elements[i];
  }
  // A layer that would keep more than all of itself keeps all, and the others share the rest.
  std::vector<bool> full(count, false);
  for (bool changed = true; changed;) {
    double rest = wanted;
    double weight = 0;
    for (size_t i = 0; i < count; ++i)
      (full[i] ? rest : weight) += full[i] ? -elements[i] : share[i] * elements[i];
    changed = false;
    for (size_t i = 0; i < count; ++i) {
      out[i] = full[i] ? 1 : rest * share[i] / weight;
      if (out[i] <= 1) continue;
      full[i] = true;
      changed = true;
    }
  }
  return out;
}

}  // namespace hewn::prune
