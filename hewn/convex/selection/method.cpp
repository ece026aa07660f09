#include "hewn/convex/selection/method.h"

#include "hewn/convex/mask.h"
#include "hewn/core/error.h"
#include "hewn/core/table.h"

namespace hewn::convex {
namespace {

const std::vector<Method>& table() {
  static const std::vector<Method> rows = {
      {"omp", MethodKind::kOmp, "", false, "group orthogonal matching pursuit"},
      {"ompr", MethodKind::kOmpr, "", false, "the same with replacement, best set kept"},
      {"iht", MethodKind::kIht, "", false, "iterative hard thresholding, refitted"},
      {"seq-lasso", MethodKind::kSequential, "", false, "group LASSO just below tau, once per group"},
      {"group-lasso", MethodKind::kSum, "abs", false, "sum of norms"},
      {"lasso", MethodKind::kSum, "abs", false, "the same with every feature a group"},
      {"q-log", MethodKind::kComposed, "log", false, "composed logarithm: prod(1 + norm) - 1"},
      {"q-pow", MethodKind::kComposed, "power", true, "composed power, q-pow:P with 0 < P < 1"},
      {"sum-log", MethodKind::kSum, "log", false, "sum of log(1 + norm)"},
      {"sum-pow", MethodKind::kSum, "power", true, "sum of norm^P, sum-pow:P"},
      {"l23", MethodKind::kSum, "l23", false, "sum of (3/2) 2^(1/3) norm^(2/3)"},
      {"lambert", MethodKind::kSum, "lambert", false, "sum of the penalty that exp masks give; no zeros"},
      {"mask-identity", MethodKind::kMask, "identity", false, "identity masks, solved as their penalty"},
      {"mask-exp", MethodKind::kMask, "exp", false, "exp masks, solved as their penalty"},
      {"mask-l1", MethodKind::kMask, "l1", false, "l1 masks, solved as their penalty"},
      {"mask-powerprop", MethodKind::kMask, "powerprop", true,
       "powerprop masks, mask-powerprop:A with A >= 2"},
  };
  return rows;
}

}  // namespace

ChosenMethod find_method(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const Method& method = find_row(table(), name, "method");
  if (colon != std::string::npos && !method.takes_number) {
    throw Error(str("method ", method.name, ": takes no number, got \"", text, "\""));
  }
  return {&method, std::string(method.part) + (colon == std::string::npos ? "" : text.substr(colon))};
}

bool Method::is_subset() const {
  return kind == MethodKind::kOmp || kind == MethodKind::kOmpr || kind == MethodKind::kIht ||
         kind == MethodKind::kSequential;
}

bool takes_unit(const ChosenMethod& chosen) {
  const bool sized = chosen.method->kind == MethodKind::kComposed || chosen.method->kind == MethodKind::kSum;
  return sized && (chosen.part == "log" || chosen.part == "lambert");
}

Penalty penalty_of(const ChosenMethod& chosen, double unit, double singles) {
  if (chosen.method->kind == MethodKind::kMask) return parse_mask(chosen.part).equivalent();
  if (chosen.part == "abs") return Penalty::sparse_groups(singles);
  return {chosen.method->kind == MethodKind::kComposed ? Form::kComposed : Form::kSum, chosen.part, unit};
}

const std::vector<MethodRow>& methods() {
  static const std::vector<MethodRow> rows = [] {
    std::vector<MethodRow> out;
    for (const Method& m : table()) out.push_back({m.name, m.help});
    return out;
  }();
  return rows;
}

}  // namespace hewn::convex
