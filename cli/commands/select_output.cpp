#include "cli/commands/select_output.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "cli/table.h"
#include "hewn/core/error.h"

namespace hewn::cli {
namespace {

using convex::Index;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// Intercept and all coefficients that are not zero, by feature.
Json coefficients_json(const convex::Dataset& data, const convex::Selection& found) {
  const convex::Matrix b = found.solution.coefficients(found.problem.groups);
  const Eigen::RowVectorXd& a = found.solution.intercept;
  Json out = {{"intercept", std::vector<double>(a.data(), a.data() + a.size())}};
  for (Index j = 0; j < b.rows(); ++j) {
    const Eigen::RowVectorXd row = b.row(j);
    if ((row.array() != 0).any())
      out[data.features[static_cast<size_t>(j)]] = std::vector<double>(row.data(), row.data() + row.size());
  }
  return out;
}

/// Every step of a subset method: which group came, which left, and what that made of the loss.
Json rounds_json(const convex::Selection& found) {
  const auto name = [&](Index g) {
    return g < 0 ? Json(nullptr) : Json(found.group_names[static_cast<size_t>(g)]);
  };
  Json out = Json::array();
  for (const convex::GreedyRound& round : found.rounds) {
    out.push_back({{"added", name(round.added)},
                   {"removed", name(round.removed)},
                   {"largest_gradient", name(round.largest)},
                   {"tau", round.tau},
                   {"tie", round.tie},
                   {"loss", round.loss},
                   {"objective", round.objective}});
  }
  return out;
}

void print_theory(const convex::Selection& found) {
  if (found.demand) {
    const convex::OmprDemand& demand = *found.demand;
    std::cout << "theorem 2: L2 " << short_number(demand.smooth) << ", mu " << short_number(demand.strong)
              << ", condition " << short_number(demand.smooth / demand.strong);
    if (demand.says_nothing) {
      std::cout << ": asks for more groups than there are, and so says nothing here\n";
    } else {
      std::cout << ": " << demand.kprime << " groups and " << demand.rounds
                << " rounds come within 1 % of what all groups explain of the best set\n";
    }
  }
  if (found.trained) {
    std::cout << "masks trained: objective " << short_number(found.trained->objective) << " after "
              << found.trained->iterations << " steps; the penalty's "
              << short_number(found.trained->penalised) << "; coefficients differ by "
              << short_number(found.trained->distance) << '\n';
  }
}

constexpr Index kShownCoefficients = 4;

/// What a group's coefficients are, as far as there is room.
std::string coefficient_text(const convex::Matrix& b, const convex::Groups& groups, Index g) {
  std::string out;
  Index shown = 0;
  for (const convex::Part& part : groups.parts(g)) {
    for (int k = 0; k < part.outputs; ++k) {
      for (const int j : part.features) {
        if (shown++ < kShownCoefficients)
          out += (out.empty() ? "" : " ") + short_number(b(j, part.first_output + k));
      }
    }
  }
  return shown > kShownCoefficients ? out + " ..." : out;
}

std::string_view measure_name(convex::Measure measure) {
  return measure == convex::Measure::kLoss       ? "loss"
         : measure == convex::Measure::kDeviance ? "deviance"
         : measure == convex::Measure::kAccuracy ? "accuracy"
                                                 : "auc";
}

std::string_view explained_name(const std::string& task) {
  return task == "gaussian" ? "R2" : "deviance explained";
}

}  // namespace

Json selection_json(const std::string& method, const convex::Dataset& data, const convex::Selection& found,
                    double seconds) {
  Json out;
  out["method"] = method;
  out["task"] = data.task;
  out["samples"] = data.problem.x->rows();
  out["features"] = data.problem.x->cols();
  out["outputs"] = data.problem.y.cols();
  out["groups"] = found.problem.groups.count();
  out["selected"] = found.selected;
  Json names = Json::array();
  for (const Index g : found.selected) names.push_back(found.group_names[static_cast<size_t>(g)]);
  out["names"] = names;
  out["losses"] = found.losses;
  out["null_loss"] = found.null_loss;
  out["loss"] = found.solution.loss;
  out["tau"] = found.tau;
  out["lambda"] = found.solution.lambda;
  if (found.unit != 1) out["unit"] = found.unit;
  if (found.mix != 1) out["mix"] = found.mix;
  if (found.singles != 0) out["singles"] = found.singles;
  out["ridge"] = found.problem.ridge;
  out["objective"] = found.solution.objective;
  out["kkt"] = found.solution.certificate.kkt;
  out["gap"] = finite(found.solution.certificate.gap);
  out["certificate"] = convex::name_of(found.solution.certificate.verdict);
  out["converged"] = found.solution.converged;
  out["explained"] = found.explained;
  out["coefficients"] = coefficients_json(data, found);
  if (!data.note.empty()) out["note"] = data.note;
  if (!found.rounds.empty()) out["rounds"] = rounds_json(found);
  if (found.demand) {
    out["bound"] = {{"kprime", found.demand->kprime},
                    {"rounds", found.demand->rounds},
                    {"L2", found.demand->smooth},
                    {"mu", found.demand->strong},
                    {"says_nothing", found.demand->says_nothing}};
  }
  if (found.trained) {
    out["trained_mask"] = {{"objective", found.trained->objective},
                           {"penalised", found.trained->penalised},
                           {"distance", found.trained->distance},
                           {"iterations", found.trained->iterations},
                           {"at_saddle", found.trained->at_saddle}};
  }
  if (!found.criterion.empty()) out["criterion"] = found.criterion;
  if (found.path) {
    Json path = Json::array();
    for (const convex::Solution& s : found.path->solutions) {
      path.push_back({{"lambda", s.lambda},
                      {"groups", s.support.size()},
                      {"loss", s.loss},
                      {"objective", s.objective},
                      {"kkt", s.certificate.kkt},
                      {"gap", finite(s.certificate.gap)},
                      {"certificate", convex::name_of(s.certificate.verdict)}});
    }
    out["path"] = path;
  }
  if (found.cv) {
    out["cv"] = {{"measure", measure_name(found.cv->measure)},
                 {"mean", found.cv->mean},
                 {"error", found.cv->error},
                 {"best", found.cv->best},
                 {"one_se", found.cv->one_se}};
  }
  if (found.holdout) {
    out["holdout"] = {{"loss", found.holdout->loss},
                      {"accuracy", found.holdout->accuracy},
                      {"loss_all", found.holdout_all->loss},
                      {"accuracy_all", found.holdout_all->accuracy}};
  }
  out["seconds"] = seconds;
  return out;
}

void print_selection(const convex::Dataset& data, const convex::Selection& found, double seconds) {
  std::cout << data.task << ": " << data.problem.x->rows() << " samples, " << data.problem.x->cols()
            << " features in " << found.problem.groups.count() << " groups, " << data.problem.y.cols()
            << (data.problem.y.cols() == 1 ? " output" : " outputs") << "\n\n";
  std::vector<std::vector<std::string>> rows = {{"step", "group", "name", "loss", "coefficients"}};
  const convex::Matrix b = found.solution.coefficients(found.problem.groups);
  const Eigen::RowVectorXd& intercept = found.solution.intercept;
  std::string first;
  for (Index k = 0; k < std::min<Index>(kShownCoefficients, intercept.size()); ++k)
    first += (k == 0 ? "" : " ") + short_number(intercept[k]);
  rows.push_back({"0", "", "(intercept)", short_number(found.null_loss),
                  intercept.size() > kShownCoefficients ? first + " ..." : first});
  for (Index g = 0; g < found.problem.groups.count(); ++g) {
    if (found.problem.groups.weight(g) == 0)
      rows.push_back({"0", str(g), found.group_names[static_cast<size_t>(g)] + " (kept)", "",
                      coefficient_text(b, found.problem.groups, g)});
  }
  for (size_t i = 0; i < found.selected.size(); ++i) {
    const Index g = found.selected[i];
    rows.push_back({str(i + 1), str(g), found.group_names[static_cast<size_t>(g)],
                    short_number(found.losses[i]), coefficient_text(b, found.problem.groups, g)});
  }
  print_table(std::cout, rows, {true, true, false, true, false});
  const convex::Certificate& certificate = found.solution.certificate;
  std::cout << '\n'
            << explained_name(data.task) << ' ' << percent(found.explained) << " (on the samples fitted)\n";
  std::cout << "tau " << short_number(found.tau) << ", lambda " << short_number(found.solution.lambda)
            << ", objective " << short_number(found.solution.objective) << ", KKT "
            << short_number(certificate.kkt) << ", gap "
            << (std::isfinite(certificate.gap) ? short_number(certificate.gap) : "unknown") << ", "
            << convex::name_of(certificate.verdict) << '\n';
  if (certificate.verdict == convex::Verdict::kTie) {
    std::cout
        << "uncertified: two groups had the same largest gradient; the one with the lower number was taken\n";
  }
  if (found.cv) {
    const auto at = [&](size_t i) {
      return found.path ? "lambda " + short_number(found.path->solutions[i].lambda) : str(i, " groups");
    };
    std::cout << "cross-validation: best " << measure_name(found.cv->measure) << ' '
              << short_number(found.cv->mean[found.cv->best]) << " +- "
              << short_number(found.cv->error[found.cv->best]) << " at " << at(found.cv->best)
              << "; sparsest within one standard error: " << at(found.cv->one_se) << '\n';
  }
  if (found.holdout) {
    const bool classes = data.task == "binomial" || data.task == "multinomial";
    std::cout << "on samples left out, refitted: "
              << (classes              ? "accuracy "
                  : data.task == "cox" ? "concordance "
                                       : "variance explained ")
              << percent(found.holdout->accuracy) << " with the selected groups, "
              << percent(found.holdout_all->accuracy) << " with all\n";
  }
  print_theory(found);
  if (!data.note.empty()) std::cout << "note: " << data.note << '\n';
  std::cout << fixed(seconds, 2) << " s\n";
}

}  // namespace hewn::cli
