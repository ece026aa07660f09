#include "cli/torch/sweep_rules.h"

#include <map>
#include <memory>

#include "cli/usage/sweep_rules.h"
#include "hewn/core/error.h"
#include "hewn/data/info.h"
#include "hewn/nn/slots.h"
#include "hewn/results/metric.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"

namespace hewn::cli {
namespace {

using Shapes = std::map<std::string, std::vector<prune::WeightShape>>;

/// The weights of the options' network; each network is built once.
const std::vector<prune::WeightShape>& shapes_of(const run::Options& o, Shapes& known) {
  std::string key = str(o.model, ' ', o.data, ' ', o.width, ' ', o.embedding);
  for (const int64_t width : o.widths) key += str(' ', width);
  const auto [found, fresh] = known.try_emplace(key);
  if (fresh) {
    const auto model = train::build_model(o, train::signature_for(o.model, o.data));
    found->second = nn::weight_shapes(nn::find_slots(*model));
  }
  return found->second;
}

void check_plan(const sweep::Options& given, Shapes& known) {
  const run::Options options = run::options_from(given);
  const prune::Plan plan = prune::make_plan(shapes_of(options, known), plan_options(options.prune));
  if (plan.layers_pruned() == 0 && options.prune.method != "dense") {
    throw Error(str("block: no layer has ", options.prune.min_blocks, " blocks of ",
                    short_text(options.prune.block), ", so nothing would be pruned"));
  }
}

bool clicks(const sweep::Options& given) {
  return data::find_info(run::options_from(given).data).kind == data::Kind::kClicks;
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
  if (spec.options.metric.empty()) spec.options.metric = results::usual_metric(clicks(runs.front().options));
  for (const sweep::Run& run : runs) {
    if (spec.options.metric == "auc" && !clicks(run.options)) {
      throw FormatError(spec.path, str("metric: run ", run.name, " trains on images, which have no auc"));
    }
  }
}

}  // namespace hewn::cli
