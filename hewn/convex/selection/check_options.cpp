#include <string_view>

#include "hewn/convex/selection/method.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

void check_numbers(const SelectOptions& options) {
  if (options.k < 0) throw Error(str("k: expected at least 1, got ", options.k));
  if (options.kprime < 0) throw Error(str("kprime: expected at least 1, got ", options.kprime));
  if (options.path < 0) throw Error(str("path: expected at least one lambda, got ", options.path));
  if (options.rounds < 0) throw Error(str("rounds: expected at least 1, got ", options.rounds));
  if (options.sweeps < 0) throw Error(str("sweeps: expected at least 1, got ", options.sweeps));
  if (options.cv < 0) throw Error(str("cv: expected at least 2 folds, got ", options.cv));
  if (options.threads < 1) throw Error(str("threads: expected at least 1, got ", options.threads));
  if (!(options.holdout >= 0 && options.holdout < 1)) {
    throw Error(str("holdout: expected a share from 0 to below 1, got ", options.holdout));
  }
  if (!(options.tolerance > 0)) throw Error(str("tolerance: expected more than 0, got ", options.tolerance));
  if (options.score != "norm" && options.score != "curvature") {
    throw Error(str("score: expected norm or curvature, got \"", options.score, "\""));
  }
  if (options.cv_rule != "one-se" && options.cv_rule != "min") {
    throw Error(str("cv-rule: expected one-se or min, got \"", options.cv_rule, "\""));
  }
  if (!(options.mix > 0 && options.mix <= 1)) {
    throw Error(str("mix: expected a number above 0 up to 1, got ", options.mix));
  }
  if (!(options.singles >= 0 && options.singles <= 1)) {
    throw Error(str("singles: expected a share from 0 to 1, got ", options.singles));
  }
  const SelectOptions usual;
  if (options.cv == 0 && (options.cv_rule != usual.cv_rule || options.measure != usual.measure)) {
    throw Error("cv-rule and measure: need cross-validation (--cv or --folds)");
  }
  if (!options.criterion.empty() && options.cv > 0) throw Error("criterion and cv: give one of them");
}

}  // namespace

void check_options(const ChosenMethod& chosen, const SelectOptions& options) {
  check_numbers(options);
  const SelectOptions usual;
  const MethodKind kind = chosen.method->kind;
  const bool subset = chosen.method->is_subset();
  const bool pursues = kind == MethodKind::kOmp || kind == MethodKind::kOmpr;
  const auto applies = [&](std::string_view key, bool given, bool fits, std::string_view to) {
    if (given && !fits) throw Error(str(key, ": applies to ", to, " only, not to ", chosen.method->name));
  };
  applies("literal", options.literal, kind == MethodKind::kOmpr, "ompr");
  applies("kprime", options.kprime != 0, kind == MethodKind::kOmpr, "ompr");
  applies("q", !options.q.empty(), pursues, "omp and ompr");
  applies("epsilon", options.epsilon != usual.epsilon,
          kind == MethodKind::kSequential || (pursues && !options.q.empty()), "seq-lasso and a q");
  if (!(options.epsilon > 0 && options.epsilon < 1))
    throw Error(str("epsilon: expected a number between 0 and 1, got ", options.epsilon));
  if (!options.q.empty() && options.score != usual.score) throw Error("score and q: give one of them");
  applies("score", options.score != usual.score, pursues, "omp and ompr");
  applies("start", !options.start.empty(), kind == MethodKind::kOmpr, "ompr");
  applies("rounds", options.rounds != 0, kind == MethodKind::kOmpr, "ompr");
  applies("bound", options.bound, kind == MethodKind::kOmpr, "ompr");
  applies("train-mask", options.train_mask, kind == MethodKind::kMask, "mask methods");
  if (options.train_mask && options.lambda.empty()) throw Error("train-mask: needs lambda");
  applies("mix", options.mix != 1, chosen.part == "abs", "lasso and group-lasso");
  applies("singles", options.singles != 0, chosen.method->name == "group-lasso", "group-lasso");
  const bool grouped = !options.groups.empty() || options.group_size > 0 || !options.block.empty();
  if (chosen.method->name == "lasso" && grouped)
    throw Error("lasso: takes features one by one; for groups: group-lasso");
  applies("unit", options.unit.has_value(), takes_unit(chosen), "q-log, sum-log and lambert");
  applies("lambda", !options.lambda.empty(), !subset, "methods with a path");
  applies("path", options.path > 0, !subset, "methods with a path");
  applies("min-ratio", options.min_ratio != usual.min_ratio, !subset, "methods with a path");
  if (!options.lambda.empty() && (options.path > 0 || options.cv > 0 || options.min_ratio != usual.min_ratio))
    throw Error("lambda: cannot be given together with path, min-ratio or cv");
  if (!options.lambda.empty() && !options.criterion.empty())
    throw Error("lambda and criterion: give one of them");
  if (!options.criterion.empty() && options.kprime > 0)
    throw Error("kprime: cannot be given together with criterion");
  if (options.cv > 0 && options.kprime > 0) throw Error("kprime: cannot be given together with cv");
}

}  // namespace hewn::convex
