#include "hewn/convex/select.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/mask.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "hewn/core/grid.h"
#include "hewn/core/options.h"
#include "hewn/core/random.h"
#include "hewn/core/table.h"

namespace hewn::convex {
namespace {

enum class Kind { kComposed, kSum, kMask, kOmp, kOmpr, kIht, kSequential };

struct Method {
  std::string_view name;
  Kind kind;
  std::string_view part;  // of a penalty or mask
  bool takes_number;
  std::string_view help;
};

const std::vector<Method>& table() {
  static const std::vector<Method> rows = {
      {"omp", Kind::kOmp, "", false, "group orthogonal matching pursuit"},
      {"ompr", Kind::kOmpr, "", false, "the same with replacement, best set kept"},
      {"iht", Kind::kIht, "", false, "iterative hard thresholding, refitted"},
      {"seq-lasso", Kind::kSequential, "", false, "group LASSO just below tau, once per group"},
      {"group-lasso", Kind::kSum, "abs", false, "sum of norms"},
      {"q-log", Kind::kComposed, "log", false, "composed logarithm: prod(1 + norm) - 1"},
      {"q-pow", Kind::kComposed, "power", true, "composed power, q-pow:P with 0 < P < 1"},
      {"sum-log", Kind::kSum, "log", false, "sum of log(1 + norm)"},
      {"sum-pow", Kind::kSum, "power", true, "sum of norm^P, sum-pow:P"},
      {"l23", Kind::kSum, "l23", false, "sum of (3/2) 2^(1/3) norm^(2/3)"},
      {"lambert", Kind::kSum, "lambert", false, "sum of the penalty that exp masks give; no zeros"},
      {"mask-identity", Kind::kMask, "identity", false, "identity masks, solved as their penalty"},
      {"mask-exp", Kind::kMask, "exp", false, "exp masks, solved as their penalty"},
      {"mask-l1", Kind::kMask, "l1", false, "l1 masks, solved as their penalty"},
      {"mask-powerprop", Kind::kMask, "powerprop", true, "powerprop masks, mask-powerprop:A with A >= 2"},
  };
  return rows;
}

struct Chosen {
  const Method* method;
  std::string part;  // with its number
};

Chosen find_method(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const Method& method = find_row(table(), name, "method");
  if (colon != std::string::npos && !method.takes_number) {
    throw Error(str("method ", method.name, ": takes no number, got \"", text, "\""));
  }
  return {&method, std::string(method.part) + (colon == std::string::npos ? "" : text.substr(colon))};
}

bool is_subset(Kind kind) {
  return kind == Kind::kOmp || kind == Kind::kOmpr || kind == Kind::kIht || kind == Kind::kSequential;
}

Penalty penalty_of(const Chosen& chosen) {
  if (chosen.method->kind == Kind::kMask) return parse_mask(chosen.part).equivalent();
  if (chosen.part == "abs") return {};
  return {chosen.method->kind == Kind::kComposed ? Form::kComposed : Form::kSum, chosen.part};
}

/// Groups of the options, and what to call each.
Groups make_groups(const Dataset& data, const SelectOptions& options, std::vector<std::string>& names) {
  const Index p = data.problem.x->cols();
  const Index k = data.problem.y.cols();
  const int given =
      (options.groups.empty() ? 0 : 1) + (options.group_size > 0 ? 1 : 0) + (options.block.empty() ? 0 : 1);
  if (given > 1) throw Error("groups, group-size and block: give one of them");
  if (options.group_size < 0) throw Error(str("group-size: expected at least 1, got ", options.group_size));
  if (given > 0 && !data.sources.empty()) {
    throw Error("categories: are groups of their own; leave groups, group-size and block out");
  }
  Groups groups = Groups::features(p, k);
  std::vector<std::string> labels = data.sources;
  if (!labels.empty()) {
    groups = Groups::labels(labels, k);
  } else if (!options.groups.empty()) {
    labels = read_labels(options.groups, p);
    groups = Groups::labels(labels, k);
  } else if (options.group_size > 0) {
    std::vector<Index> sizes;
    for (Index j = 0; j < p; j += options.group_size)
      sizes.push_back(std::min<Index>(options.group_size, p - j));
    groups = Groups::sizes(sizes, k);
  } else if (!options.block.empty()) {
    const BlockShape block = parse_block(options.block);
    groups = Groups::blocks(p, k, block.rows, block.cols);
  }
  for (Index g = 0; g < groups.count(); ++g) {
    const Part& part = groups.parts(g).front();
    const std::string& first = data.features[to_size(part.features.front())];
    std::string name = labels.empty() ? first : labels[to_size(part.features.front())];
    if (labels.empty() && part.features.size() > 1)
      name += ".." + data.features[to_size(part.features.back())];
    if (part.outputs < k) {
      name += " x " + data.outputs[to_size(part.first_output)];
      if (part.outputs > 1) name += ".." + data.outputs[to_size(part.first_output + part.outputs - 1)];
    }
    names.push_back(std::move(name));
  }
  if (options.group_weights == "sqrt") {
    Vector weights(groups.count());
    for (Index g = 0; g < groups.count(); ++g) weights[g] = std::sqrt(static_cast<double>(groups.size(g)));
    groups.set_weights(weights);
  } else if (options.group_weights != "one") {
    throw Error(str("group-weights: expected one or sqrt, got \"", options.group_weights, "\""));
  }
  return groups;
}

double parse_lambda(const std::string& text, double tau) {
  const bool share = text.ends_with("tau");
  double value = 1;
  if (text != "tau") parse_value("lambda", share ? text.substr(0, text.size() - 3) : text, value);
  if (!(value >= 0) || std::isinf(value))
    throw Error(str("lambda: expected a number of at least 0, got \"", text, "\""));
  return share ? value * tau : value;
}

CrossValidationOptions cv_options(const SelectOptions& options) {
  return {static_cast<int>(options.cv), static_cast<uint64_t>(options.seed),
          static_cast<int>(std::max<int64_t>(1, options.threads))};
}

void follow_path(Selection& out, const Chosen& chosen, const SelectOptions& options, const Options& solver,
                 const std::function<void(int, int)>& progress) {
  const Penalty penalty = penalty_of(chosen);
  PathOptions path;
  path.progress = progress;
  path.count = options.path > 0 ? static_cast<int>(options.path) : 100;
  path.min_ratio = options.min_ratio;
  if (!options.lambda.empty()) {
    if (options.path > 0 || options.cv > 0) throw Error("lambda: cannot be given together with path or cv");
    const double tau = Fitter(out.problem, Penalty(), solver).tau();
    const double lambda = parse_lambda(options.lambda, tau);
    // Some lambdas on the way show the order of entering and make each solution easy.
    constexpr int kSteps = 20;
    for (int i = 0; i < kSteps && lambda < tau && lambda > 0; ++i) {
      path.lambdas.push_back(tau * std::pow(lambda / tau, static_cast<double>(i) / kSteps));
    }
    path.lambdas.push_back(lambda);
  } else if (options.k > 0 && options.cv == 0) {
    path.max_groups = options.k;
    if (options.path == 0) path.min_ratio = std::min(path.min_ratio, 1e-3);
  }
  out.path = solve_path(out.problem, penalty, solver, path);
  out.chosen = out.path->solutions.size() - 1;
  if (options.cv > 0) {
    out.cv = cross_validate(out.problem, penalty, solver, *out.path, cv_options(options));
    out.chosen = out.cv->one_se;
  }
  out.solution = out.path->solutions[out.chosen];
  out.tau = out.path->tau;
  out.null_loss = out.path->null_objective;
  // In the order of entering; the loss is that of the first solution with the group in it.
  std::vector<bool> kept(to_size(out.problem.groups.count()), false);
  for (const Index g : out.solution.support) kept[to_size(g)] = out.problem.groups.weight(g) > 0;
  for (const Index g : out.path->entry_order) {
    if (!kept[to_size(g)]) continue;
    if (options.k > 0 && to_index(out.selected.size()) >= options.k) break;
    out.selected.push_back(g);
    for (const Solution& s : out.path->solutions) {
      if (!std::binary_search(s.support.begin(), s.support.end(), g)) continue;
      out.losses.push_back(s.loss);
      break;
    }
  }
}

void pursue_subset(Selection& out, const Chosen& chosen, const SelectOptions& options, const Options& solver,
                   const std::function<void(int, int)>& progress) {
  const Kind kind = chosen.method->kind;
  if (!options.lambda.empty() || options.path > 0) {
    throw Error(str("lambda and path: do not apply to ", chosen.method->name, ", which takes --k"));
  }
  if (options.cv > 0 && options.kprime > 0) throw Error("kprime: cannot be given together with cv");
  if (options.score != "norm" && options.score != "curvature") {
    throw Error(str("score: expected norm or curvature, got \"", options.score, "\""));
  }
  GreedyOptions greedy;
  greedy.k = options.k > 0 ? options.k : 10;
  greedy.kprime = options.kprime;
  greedy.literal = options.literal;
  greedy.score = options.score == "norm" ? Score::kNorm : Score::kCurvature;
  greedy.epsilon = options.epsilon;
  const auto pursue = [&](const Problem& problem, const GreedyOptions& own) {
    return kind == Kind::kOmp    ? omp(problem, own)
           : kind == Kind::kOmpr ? ompr(problem, own)
           : kind == Kind::kIht  ? iht(problem, own)
                                 : sequential_lasso(problem, solver, own);
  };
  if (options.cv > 0) {
    const CrossValidationOptions cv = cv_options(options);
    const auto pick = [&](const Problem& rest, Index size) {
      GreedyOptions own = greedy;
      own.k = size;
      return pursue(rest, own).solution;
    };
    out.cv = kind == Kind::kOmp
                 ? cross_validate_omp(out.problem, greedy, cv)
                 : cross_validate_sizes(out.problem, checked_count(out.problem, greedy.k), pick, cv);
    greedy.k = to_index(std::max<std::size_t>(1, out.cv->one_se));
  }
  greedy.progress = progress;
  const Greedy found = pursue(out.problem, greedy);
  out.selected = found.selected;
  out.losses = found.losses;
  out.tau = found.tau;
  out.null_loss = found.null_loss;
  out.solution = found.solution;
}

HoldoutScore score_of(const Problem& problem, const Vector& outside, const std::vector<Index>& groups) {
  Problem refitted = problem;
  if (problem.loss->may_diverge()) refitted.ridge = std::max(problem.ridge, 1e-3);
  Subsets subsets(refitted);
  std::vector<Index> all = subsets.always();
  all.insert(all.end(), groups.begin(), groups.end());
  // Enough for an accuracy, and with all features a good part of the time.
  constexpr double kTolerance = 1e-9;
  const Solution solution = subsets.solution(subsets.fit(all, nullptr, kTolerance));
  const Matrix coefficients = solution.coefficients(problem.groups);
  std::vector<int> features(to_size(coefficients.rows()));
  for (std::size_t j = 0; j < features.size(); ++j) features[j] = static_cast<int>(j);
  Matrix eta =
      problem.offset.size() != 0 ? problem.offset : Matrix::Zero(problem.x->rows(), problem.y.cols());
  problem.x->add_times(features, coefficients, eta);
  eta.rowwise() += solution.intercept;
  HoldoutScore out;
  Matrix residual;
  const Vector w = outside / outside.sum();
  out.loss = problem.loss->value(eta, problem.y, w, residual);
  problem.loss->predict(eta);
  if (problem.loss == &find_loss("multinomial") || problem.loss == &find_loss("binomial")) {
    for (Index i = 0; i < eta.rows(); ++i) {
      Index guess = 0;
      Index truth = 0;
      if (eta.cols() > 1) {
        eta.row(i).maxCoeff(&guess);
        problem.y.row(i).maxCoeff(&truth);
      } else {
        guess = eta(i, 0) > 0.5 ? 1 : 0;
        truth = problem.y(i, 0) > 0.5 ? 1 : 0;
      }
      if (guess == truth) out.accuracy += w[i];
    }
  } else {
    const Eigen::RowVectorXd mean = w.transpose() * problem.y;
    const double total = ((problem.y.rowwise() - mean).array().square().colwise() * w.array()).sum();
    const double rest = ((problem.y - eta).array().square().colwise() * w.array()).sum();
    out.accuracy = total > 0 ? 1 - rest / total : 0;
  }
  return out;
}

}  // namespace

const std::vector<MethodRow>& methods() {
  static const std::vector<MethodRow> rows = [] {
    std::vector<MethodRow> out;
    for (const Method& m : table()) out.push_back({m.name, m.help});
    return out;
  }();
  return rows;
}

Selection select(const Dataset& data, const SelectOptions& options,
                 const std::function<void(int, int)>& progress) {
  const Chosen chosen = find_method(options.method);
  if (options.k < 0) throw Error(str("k: expected at least 1, got ", options.k));
  if (!(options.holdout >= 0 && options.holdout < 1)) {
    throw Error(str("holdout: expected a share from 0 to below 1, got ", options.holdout));
  }
  if (!(options.tolerance > 0)) throw Error(str("tolerance: expected more than 0, got ", options.tolerance));
  Selection out;
  out.problem = data.problem;
  out.problem.groups = make_groups(data, options, out.group_names);
  out.problem.intercept = !options.no_intercept;
  out.problem.standardise = options.standardise;
  const bool subset = is_subset(chosen.method->kind);
  out.problem.ridge = options.ridge.value_or(subset && out.problem.loss->may_diverge() ? 1e-3 : 0);
  Options solver;
  solver.tolerance = options.tolerance;

  Vector outside;
  if (options.holdout > 0) {
    const Index n = out.problem.x->rows();
    const auto count = static_cast<Index>(std::llround(options.holdout * static_cast<double>(n)));
    if (count < 1 || count >= n)
      throw Error(str("holdout: ", count, " of ", n, " samples is too few or all of them"));
    if (out.problem.sample_weight.size() == 0) out.problem.sample_weight = Vector::Ones(n);
    outside = Vector::Zero(n);
    const std::vector<int64_t> order = permutation(static_cast<uint64_t>(options.seed), 1, n);
    for (Index i = 0; i < count; ++i)
      std::swap(outside[order[to_size(i)]], out.problem.sample_weight[order[to_size(i)]]);
  }
  if (subset) {
    pursue_subset(out, chosen, options, solver, progress);
  } else {
    follow_path(out, chosen, options, solver, progress);
  }
  if (options.holdout > 0) {
    out.holdout = score_of(out.problem, outside, out.selected);
    std::vector<Index> all;
    for (Index g = 0; g < out.problem.groups.count(); ++g) {
      if (out.problem.groups.weight(g) > 0) all.push_back(g);
    }
    out.holdout_all = score_of(out.problem, outside, all);
  }
  return out;
}

}  // namespace hewn::convex
