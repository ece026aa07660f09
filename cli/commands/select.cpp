#include "hewn/convex/select.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/commands/coefficients.h"
#include "cli/table.h"
#include "cli/usage/select_layer.h"
#include "hewn/convex/path_plot.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/core/text.h"

namespace hewn::cli {
namespace {

using convex::Index;

struct SelectFields {
  std::string data;
  std::string target;
  std::string targets;
  std::string task = "auto";
  std::string weights;
  std::string offset;
  std::string categories;
  std::string ignore;
  std::string header = "auto";
  std::string separator = ",";
  std::string impute = "none";
  convex::SelectOptions select;
  std::string coef;
  std::string plot;
  bool allow_unconverged = false;
  bool json = false;
  LayerFields layer;
};

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

convex::DatasetOptions dataset_options(const SelectFields& fields) {
  convex::DatasetOptions out;
  if (!fields.target.empty() && !fields.targets.empty()) throw Error("target and targets: give one of them");
  if (!fields.target.empty()) out.targets = {fields.target};
  if (!fields.targets.empty()) out.targets = words(fields.targets);
  out.task = fields.task;
  out.weights = fields.weights;
  out.offset = fields.offset;
  out.categories = words(fields.categories);
  out.ignore = words(fields.ignore);
  if (fields.header == "yes") {
    out.header = io::Header::kYes;
  } else if (fields.header == "no") {
    out.header = io::Header::kNo;
  } else if (fields.header != "auto") {
    throw Error(str("header: expected auto, yes or no, got \"", fields.header, "\""));
  }
  if (fields.separator == "tab") {
    out.separator = '\t';
  } else if (fields.separator.size() == 1 && fields.separator != "\"") {
    out.separator = fields.separator[0];
  } else {
    throw Error(str("separator: expected one character or tab, got \"", fields.separator, "\""));
  }
  if (fields.impute != "none" && fields.impute != "mean") {
    throw Error(str("impute: expected none or mean, got \"", fields.impute, "\""));
  }
  out.impute_mean = fields.impute == "mean";
  return out;
}

/// A count on standard error once a run takes longer than a second, on a terminal only.
class Progress {
 public:
  void operator()(int done, int all) {
    if (isatty(STDERR_FILENO) == 0) return;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() < 1) return;
    std::cerr << "\r  " << done << "/" << all << " " << (done == all ? "\r\033[K" : "") << std::flush;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const SelectFields& fields, const convex::Dataset& data, const convex::Selection& found,
             double seconds) {
  Json out;
  out["method"] = fields.select.method;
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
  out["ridge"] = found.problem.ridge;
  out["objective"] = found.solution.objective;
  out["kkt"] = found.solution.certificate.kkt;
  out["gap"] = finite(found.solution.certificate.gap);
  out["certificate"] = convex::name_of(found.solution.certificate.verdict);
  out["converged"] = found.solution.converged;
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
    out["cv"] = {{"mean", found.cv->mean},
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

void print_select(const convex::Dataset& data, const convex::Selection& found, double seconds) {
  std::cout << data.task << ": " << data.problem.x->rows() << " samples, " << data.problem.x->cols()
            << " features in " << found.problem.groups.count() << " groups, " << data.problem.y.cols()
            << (data.problem.y.cols() == 1 ? " output" : " outputs") << "\n\n";
  std::vector<std::vector<std::string>> rows = {{"step", "group", "name", "loss"}};
  rows.push_back({"0", "", "(none)", short_number(found.null_loss)});
  for (size_t i = 0; i < found.selected.size(); ++i) {
    const Index g = found.selected[i];
    rows.push_back(
        {str(i + 1), str(g), found.group_names[static_cast<size_t>(g)], short_number(found.losses[i])});
  }
  print_table(std::cout, rows, {true, true, false, true});
  const convex::Certificate& certificate = found.solution.certificate;
  std::cout << "\ntau " << short_number(found.tau) << ", lambda " << short_number(found.solution.lambda)
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
    std::cout << "cross-validation: least loss " << short_number(found.cv->mean[found.cv->best]) << " +- "
              << short_number(found.cv->error[found.cv->best]) << " at " << at(found.cv->best)
              << "; taken by the one-standard-error rule: " << at(found.cv->one_se) << '\n';
  }
  if (found.holdout) {
    const bool classes = data.task == "binomial" || data.task == "multinomial";
    std::cout << "on samples left out, refitted: " << (classes ? "accuracy " : "variance explained ")
              << percent(found.holdout->accuracy) << " with the selected groups, "
              << percent(found.holdout_all->accuracy) << " with all\n";
  }
  std::cout << fixed(seconds, 2) << " s\n";
}

std::string method_names() {
  std::vector<std::string> names;
  for (const convex::MethodRow& row : convex::methods()) names.emplace_back(row.name);
  return join(names);
}

int run_select(SelectFields fields, const Given& given) {
  settle_source(fields.data, fields.layer);
  if (!fields.layer.run.empty()) {
    settle_layer(fields.select, given, fields.layer);
    fields.layer.progress = Progress();
    return run_select_layer(fields.layer, given);
  }
  for (const std::string& key : layer_keys()) {
    if (key != "out" && given.contains(key)) throw Error(str(key, ": applies to a layer of a run only"));
  }
  const std::string& out = fields.layer.options.out;
  const std::string suffix = out.empty() ? "" : known_suffix("out", out, {".csv", ".npy", ".json"});
  const convex::Dataset data = convex::read_dataset(fields.data, dataset_options(fields));
  const auto start = std::chrono::steady_clock::now();
  const convex::Selection found = convex::select(data, fields.select, Progress());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const convex::Groups& groups = found.problem.groups;
  for (const std::string& file : {fields.coef, suffix == ".json" ? "" : out}) {
    if (file.empty()) continue;
    write_coefficients(file, found.solution.coefficients(groups), data, found.solution.intercept);
  }
  const Json result = to_json(fields, data, found, seconds);
  if (suffix == ".json") write_file_atomically(out, result.dump(2) + "\n");
  if (!fields.plot.empty()) {
    if (!found.path) throw Error(str("plot: ", fields.select.method, " follows no path"));
    write_file_atomically(fields.plot, convex::path_svg(*found.path, groups, found.group_names,
                                                        static_cast<int>(found.chosen)));
  }
  if (fields.json) {
    std::cout << result.dump(2) << '\n';
  } else {
    print_select(data, found, seconds);
  }
  if (found.solution.converged || fields.allow_unconverged) return 0;
  throw Error(str("not converged: the optimality conditions are violated by ", found.solution.certificate.kkt,
                  ", more than --tolerance ", fields.select.tolerance, "; --allow-unconverged accepts that"));
}

}  // namespace

Command select_command() {
  const auto fields = std::make_shared<SelectFields>();
  convex::SelectOptions& o = fields->select;
  Command command;
  command.name = "select";
  command.help = "select groups of features that predict a target, with certificates";
  command.example =
      "hewn select data.csv --target price --method ompr --k 5\n"
      "  hewn select RUN --layer fc1 --sparsity 0.9 --out RUN2";
  command.positionals.push_back(
      {"SOURCE", "data.csv, X.npy, X.npy,Y.npy or data.npz; or a run folder", &fields->data, false});
  command.options.add("target", fields->target,
                      "column to predict, by name or number from 0; default: the last");
  command.options.add("targets", fields->targets, "several of them, with commas between");
  command.options.add("task", fields->task, "gaussian, binomial, multinomial, poisson or auto");
  command.options.add("method", o.method, method_names());
  command.options.add("k", o.k,
                      "groups to select; 0: 10 for omp, ompr, iht and seq-lasso, no limit for paths");
  command.options.add("kprime", o.kprime, "size of the set that ompr keeps; 0: k");
  command.options.add("lambda", o.lambda, "strength of the penalty: a number, or a share as in 0.1tau");
  command.options.add("path", o.path, "number of lambdas from tau down; 0: 100");
  command.options.add("min-ratio", o.min_ratio, "last lambda of a path as a share of tau");
  command.options.add("cv", o.cv,
                      "folds of cross-validation, which then chooses lambda, or for subset methods the "
                      "number of groups up to k; "
                      "0: none");
  command.options.add("groups", o.groups, "file with one group label per feature column");
  command.options.add("group-size", o.group_size, "consecutive columns per group");
  command.options.add("block", o.block, "tiles of the coefficient matrix as groups, RxC");
  command.options.add("group-weights", o.group_weights, "one, or sqrt of each group's size");
  command.options.add("ridge", o.ridge,
                      "adds ridge/2 times the squared norm; auto: 1e-3 for subsets of classes or counts");
  command.options.add("intercept", o.intercept, "fit an intercept").was_not("no-intercept");
  command.options.add("standardise", o.standardise, "divide columns by their standard deviation")
      .was("standardize");
  command.options.add("weights", fields->weights, "column of sample weights");
  command.options.add("offset", fields->offset, "column that is added to the linear predictor");
  command.options.add("categories", fields->categories,
                      "columns of text, with commas between: a group of 0/1 features each");
  command.options.add("ignore", fields->ignore, "columns to leave out, with commas between");
  command.options.add("header", fields->header, "auto, yes or no");
  command.options.add("separator", fields->separator, "between fields: one character or tab");
  command.options.add("impute", fields->impute, "none, or mean for missing values");
  command.options.add("literal", o.literal, "ompr as Algorithm 2 writes it, without keeping the best set");
  command.options.add("score", o.score, "norm or curvature: what subset methods rank groups by");
  command.options.add("epsilon", o.epsilon, "seq-lasso solves at (1 - epsilon) tau");
  command.options.add("tolerance", o.tolerance, "violation of the optimality conditions, relative to lambda");
  command.options.add("holdout", o.holdout, "share of samples to leave out and measure on");
  command.options.add("seed", o.seed, "of folds and holdout");
  command.options.add("threads", o.threads, "folds solved at the same time");
  command.options.add("coef", fields->coef, "old spelling of --out with a .npy or .csv file");
  command.options.add("plot", fields->plot, "write a picture of the path to this .svg file");
  command.options.add("allow-unconverged", fields->allow_unconverged, "exit with 0 although not converged");
  command.options.add("json", fields->json, "print JSON");
  describe(fields->layer, command.options);
  command.run = [fields](const Given& given) { return run_select(*fields, given); };
  return command;
}

}  // namespace hewn::cli
