#include "cli/torch/sweep_rules.h"

#include <algorithm>
#include <map>
#include <memory>

#include "cli/usage/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/data/info.h"
#include "hewn/nn/trace.h"
#include "hewn/results/metric.h"
#include "hewn/run/costs.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"

namespace hewn::cli {
namespace {

using Shapes = std::map<std::string, std::vector<prune::WeightShape>>;

/// The weights of the options' network; each network is built once.
const std::vector<prune::WeightShape>& shapes_of(const run::Options& o, Shapes& known) {
  std::string key = str(o.model, ' ', o.data, ' ', o.width, ' ', o.embedding, ' ', o.stem, ' ',
                        o.depth.value_or(0), ' ', o.patch.value_or(0));
  for (const int64_t width : o.widths) key += str(' ', width);
  const auto [found, fresh] = known.try_emplace(key);
  if (fresh) {
    const nn::Signature signature = train::signature_for(o.model, o.data);
    const auto model = train::build_model(o, signature);
    found->second = nn::traced_shapes(*model, signature.input);
  }
  return found->second;
}

void check_plan(const sweep::Options& given, Shapes& known) {
  run::Options options = run::options_from(given);
  if (options.keep_support) return;  // what is pruned the file says
  run::load_costs(options);
  const prune::Plan plan = prune::make_plan(shapes_of(options, known), plan_options(options.prune));
  if (plan.layers_pruned() == 0 && options.prune.method != "dense") {
    throw Error(str("block: no layer has ", options.prune.min_blocks, " blocks of ",
                    short_text(options.prune.block), ", so nothing would be pruned"));
  }
}

/// What a run answers with. Of a table the task says it: it is not opened for a sweep's file.
results::Answers answers_of(const sweep::Options& given) {
  const run::Options options = run::options_from(given);
  const data::Kind kind = data::find_info(options.data).kind;
  if (kind == data::Kind::kClicks) return results::Answers::kClicks;
  if (kind == data::Kind::kText) return results::Answers::kText;
  if (kind == data::Kind::kImages || options.tables.task == "classification")
    return results::Answers::kClasses;
  if (options.tables.task == "regression") return results::Answers::kNumbers;
  throw Error(str("task: expected classification or regression for the sweep's tables of results, got ",
                  options.tables.task));
}

}  // namespace

sweep::TrainRules train_rules() {
  sweep::TrainRules rules = option_rules();
  rules.check = [values = rules.check, known = std::make_shared<Shapes>()](const sweep::Options& given) {
    values(given);
    check_plan(given, *known);
  };
  return rules;
}

void choose_metric(sweep::Spec& spec, const std::vector<sweep::Run>& runs) {
  std::string& metric = spec.options.metric;
  if (metric.empty()) metric = results::metrics_of(answers_of(runs.front().options)).front();
  for (const sweep::Run& run : runs) {
    const std::vector<std::string>& known = results::metrics_of(answers_of(run.options));
    if (std::find(known.begin(), known.end(), metric) == known.end()) {
      throw FormatError(spec.path, str("metric: run ", run.name, " has no ", metric, ", only ", join(known)));
    }
  }
}

}  // namespace hewn::cli
