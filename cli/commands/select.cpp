#include "hewn/convex/select.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/commands/coefficients.h"
#include "cli/commands/select_output.h"
#include "cli/commands/table_reading.h"
#include "cli/usage/select_layer.h"
#include "hewn/convex/model.h"
#include "hewn/convex/path_plot.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/suffix.h"
#include "hewn/core/text.h"

namespace hewn::cli {
namespace {

struct SelectFields {
  std::string data;
  std::string target;
  std::string targets;
  std::string task = "auto";
  std::string weights;
  std::string offset;
  std::string categories;
  std::string ignore;
  std::string event;
  std::string folds;
  std::string keep;
  std::string start;
  std::string header = "auto";
  std::string separator = ",";
  std::string impute = "none";
  convex::SelectOptions select;
  std::string coef;
  std::string plot;
  std::string to;
  bool whole_path = false;
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
  out.event = fields.event;
  out.folds = fields.folds;
  out.header = header_of(fields.header);
  out.separator = separator_of(fields.separator);
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
  if (!fields.to.empty()) known_suffix("to", fields.to, {".json"});
  if (fields.whole_path && fields.to.empty()) throw Error("whole-path: needs --to FILE.json");
  if (!fields.plot.empty()) known_suffix("plot", fields.plot, {".svg"});
  const convex::Dataset data = convex::read_dataset(fields.data, dataset_options(fields));
  const auto start = std::chrono::steady_clock::now();
  fields.select.keep = words(fields.keep);
  fields.select.start = words(fields.start);
  const convex::Selection found = convex::select(data, fields.select, Progress());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const convex::Groups& groups = found.problem.groups;
  for (const std::string& file : {fields.coef, suffix == ".json" ? "" : out}) {
    if (file.empty()) continue;
    write_coefficients(file, found.solution.coefficients(groups), data, found.solution.intercept);
  }
  if (!fields.to.empty())
    convex::write_model(fields.to, convex::model_of(data, found, fields.select.method, fields.whole_path));
  const Json result = selection_json(fields.select.method, data, found, seconds);
  if (suffix == ".json")
    write_file_atomically(out, result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!fields.plot.empty()) {
    if (!found.path) throw Error(str("plot: ", fields.select.method, " follows no path"));
    write_file_atomically(fields.plot, convex::path_svg(*found.path, groups, found.group_names,
                                                        static_cast<int>(found.chosen)));
  }
  if (fields.json) {
    std::cout << result.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  } else {
    print_selection(data, found, seconds);
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
  command.options.add("task", fields->task, "gaussian, binomial, multinomial, poisson, cox or auto");
  command.options.add("event", fields->event,
                      "task cox: column with 1 where the target is the time of an event, else 0");
  command.options.add("method", o.method, method_names());
  command.options.add("k", o.k,
                      "groups to select; 0: 10 for omp, ompr, iht and seq-lasso, no limit for paths");
  command.options.add("kprime", o.kprime, "size of the set that ompr keeps; 0: k");
  command.options.add("lambda", o.lambda, "strength of the penalty: a number, or a share as in 0.1tau");
  command.options.add("unit", o.unit,
                      "norm of a group that q-log, sum-log and lambert take for 1; auto: that of a step of "
                      "the best group alone");
  command.options.add("path", o.path, "number of lambdas from tau down; 0: 100");
  command.options.add("min-ratio", o.min_ratio, "last lambda of a path as a share of tau");
  command.options.add("cv", o.cv,
                      "folds of cross-validation, which then chooses lambda, or for subset methods the "
                      "number of groups up to k; "
                      "0: none");
  command.options.add("cv-rule", o.cv_rule,
                      "one-se: the sparsest within a standard error of the best; min: the best");
  command.options.add("measure", o.measure,
                      "what cross-validation looks at: loss, deviance, accuracy or auc");
  command.options.add("folds", fields->folds, "column that says which fold a sample is in, instead of --cv");
  command.options.add("criterion", o.criterion,
                      "aic, bic, ebic or gic: chooses lambda or the number of groups up to k");
  command.options.add("keep", fields->keep,
                      "groups or features, with commas between: always in, not penalised");
  command.options.add("penalty-factors", o.penalty_factors,
                      "file of lines group,factor: what a group's weight is multiplied with");
  command.options.add("mix", o.mix,
                      "elastic net: share of the penalty that is norms, the rest half the squared norm");
  command.options.add("singles", o.singles,
                      "sparse groups: share of the norms' penalty that is absolute values of single "
                      "coefficients instead");
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
  command.options.add("q", o.q,
                      "omp and ompr: method whose penalty chooses who enters, just below its tau and with "
                      "the set free (Algorithm 2 with any q); default: the largest gradient");
  command.options.add("start", fields->start,
                      "groups that ompr begins with, by name, with commas between; default: those of omp");
  command.options.add("rounds", o.rounds, "swaps of ompr at most; 0: 100");
  command.options.add("bound", o.bound,
                      "ompr: the k' and the rounds that Theorem 2 asks for here; gaussian, up to 15 groups");
  command.options.add("train-mask", o.train_mask,
                      "mask methods, with --lambda: train the masks too and compare");
  command.options.add("sweeps", o.sweeps, "sweeps of one solution at most; 0: 100000");
  command.options.add("score", o.score, "norm or curvature: what subset methods rank groups by");
  command.options.add("epsilon", o.epsilon, "seq-lasso and --q solve at (1 - epsilon) tau");
  command.options.add("tolerance", o.tolerance, "violation of the optimality conditions, relative to lambda");
  command.options.add("holdout", o.holdout, "share of samples to leave out and measure on");
  command.options.add("seed", o.seed, "of folds and holdout");
  command.options.add("threads", o.threads, "folds solved at the same time");
  command.options.add("coef", fields->coef, "old spelling of --out with a .npy or .csv file");
  command.options.add("to", fields->to, "write a model that hewn predict takes to this .json file");
  command.options.add("whole-path", fields->whole_path, "with --to: keep every lambda of the path");
  command.options.add("plot", fields->plot, "write a picture of the path to this .svg file");
  command.options.add("allow-unconverged", fields->allow_unconverged, "exit with 0 although not converged");
  command.options.add("json", fields->json, "print JSON");
  describe(fields->layer, command.options);
  command.run = [fields](const Given& given) { return run_select(*fields, given); };
  return command;
}

}  // namespace hewn::cli
